import { expect, test } from 'vitest'
import { pageHeaders } from '#machine/browser/page-files.ts'

test('every answer blocks other origins, sends no referrer and asks for no device', () => {
  const { 'content-security-policy': policy, ...others } = pageHeaders()
  expect(others).toEqual({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()',
  })
  expect(policy?.split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'self'",
    "font-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self'",
    "object-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
  ])
  expect(pageHeaders('ws://127.0.0.1:1')['content-security-policy']).toContain(
    "; connect-src 'self' ws://127.0.0.1:1; ",
  )
})
