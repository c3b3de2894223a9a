import { expect, test } from 'vitest'
import { isPage } from '#shell/page-origin.ts'

test.each([
  'app://berth/',
  'app://berth/index.html',
  'app://berth/index.html#/instances',
  'app://berth/assets/a.js',
])('%s is the page', address => expect(isPage(address)).toBe(true))

test.each([
  'app://other/',
  'app://berth.example/',
  'app://berth:1/',
  'app://user@berth/',
  'app:berth',
  'https://berth/',
  'file:///berth/index.html',
  'about:blank',
  'data:text/html,app://berth/',
  'javascript:app://berth/',
  'blob:app://berth/x',
  '',
])('%j is not', address => expect(isPage(address)).toBe(false))
