#!/usr/bin/env -S node --import tsx
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeDeb } from './deb.ts'
import { type Asked, stage } from './payload.ts'
import { makeRpm } from './rpm.ts'

/**
 * Stands in for fpm, which electron-builder starts to make a deb or an rpm: with the systems' own `dpkg-deb` and
 * `rpmbuild` and without Ruby. It takes the options that electron-builder gives, and refuses others, since it would not
 * do what they ask for.
 */
const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'input-type': { ...text, short: 's' },
    'output-type': { ...text, short: 't' },
    force: { type: 'boolean' },
    log: text,
    depends: { ...texts, short: 'd' },
    'deb-recommends': texts,
    'deb-compression': text,
    'deb-priority': text,
    'rpm-os': text,
    'rpm-compression': text,
    'rpm-summary': text,
    architecture: text,
    'after-install': text,
    'after-remove': text,
    description: text,
    version: text,
    package: text,
    name: text,
    maintainer: text,
    vendor: text,
    url: text,
    category: text,
    license: text,
    iteration: text,
  },
})

function given(option: keyof typeof values): string {
  const value = values[option]
  if (typeof value !== 'string') throw new Error(`--${option} is missing`)
  return value
}

const type = given('output-type')
if (given('input-type') !== 'dir' || (type !== 'deb' && type !== 'rpm'))
  throw new Error(`makes no ${type} of a ${values['input-type']}`)

const folder = await mkdtemp(join(tmpdir(), 'berth-package-'))
try {
  const asked: Asked = {
    name: given('name'),
    version: given('version'),
    iteration: values.iteration ?? '1',
    architecture: given('architecture'),
    maintainer: given('maintainer'),
    vendor: given('vendor'),
    url: given('url'),
    license: given('license'),
    description: given('description'),
    depends: values.depends ?? [],
    afterInstall: given('after-install'),
    afterRemove: given('after-remove'),
    package: given('package'),
    folder,
    files: await stage(positionals, join(folder, 'root')),
  }
  if (type === 'deb')
    await makeDeb(asked, {
      recommends: values['deb-recommends'] ?? [],
      section: values.category ?? 'net',
      priority: values['deb-priority'] ?? 'optional',
      compression: given('deb-compression'),
    })
  else await makeRpm(asked, { summary: given('rpm-summary'), compression: given('rpm-compression') })
} finally {
  await rm(folder, { recursive: true, force: true })
}
