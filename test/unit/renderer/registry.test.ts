import { expect, test } from 'vitest'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { Registry, untagged } from '#renderer/features/market/registry.svelte.ts'
import { describedCapabilities, publicCapabilities } from '#shared/account/capabilities.ts'

test('an image’s name ends before its tag and digest, not before a registry’s port', () => {
  for (const [image, name] of [
    ['vastai/pytorch:2.5', 'vastai/pytorch'],
    [' vastai/pytorch: ', 'vastai/pytorch'],
    ['r.example:5000/a/b', 'r.example:5000/a/b'],
    ['r.example:5000/a/b:1@sha256:abc', 'r.example:5000/a/b'],
    ['ubuntu', 'ubuntu'],
  ] as const)
    expect(untagged(image)).toBe(name)
})

test('a registry is asked once for each image and each whole login, and only where the service reads it', async () => {
  const asked: unknown[] = []
  const page = (capabilities: object, answer: string) =>
    ({
      account: { capabilities },
      berth: {
        imageTags: async (args: unknown) => {
          asked.push(args)
          return ['latest']
        },
        checkRegistry: async (args: unknown) => {
          asked.push(args)
          return answer
        },
      },
    }) as unknown as Page
  const nobody = { server: '', user: '', token: '' }
  const login = { server: 'r.example', user: 'me', token: 'x' }
  const registry = new Registry(page(publicCapabilities, 'refused'))
  await registry.look('a/b:1', nobody)
  await registry.look('a/b:2', nobody)
  expect(registry.images).toEqual(['a/b:latest'])
  await registry.check({ ...login, token: '' })
  expect(registry.refused).toBe(false)
  await registry.check(login)
  await registry.check({ ...login, token: ' x ' })
  expect(registry.refused).toBe(true)
  expect(asked).toEqual([{ image: 'a/b', registry: undefined }, { registry: login }])
  await registry.check(nobody)
  expect(registry.refused).toBe(false)

  const without = new Registry(page(describedCapabilities, 'refused'))
  await without.look('a/b', nobody)
  await without.check(login)
  expect([without.images, without.refused, asked.length]).toEqual([[], false, 2])
  const unsure = new Registry(page(publicCapabilities, 'unknown'))
  await unsure.check(login)
  expect(unsure.refused).toBe(false)
})
