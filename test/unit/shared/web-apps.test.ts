import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shownApps, webApps } from '#shared/instance/web-apps.ts'

const published =
  'localhost:1111:11111:/:Instance Portal|localhost:8080:18080:/:Jupyter|localhost:8188:18188:/:ComfyUI' +
  '|localhost:8080:8080:/terminals/1:Jupyter Terminal|localhost:8000:18000:/docs:vLLM API: v1'

test('PORTAL_CONFIG names pages with both ports, a path and a name', () => {
  const apps = webApps([['PORTAL_CONFIG', published]])
  expect(apps).toEqual([
    { name: 'Instance Portal', port: 1111, innerPort: 11_111, path: '/' },
    { name: 'Jupyter', port: 8080, innerPort: 18_080, path: '/' },
    { name: 'ComfyUI', port: 8188, innerPort: 18_188, path: '/' },
    { name: 'Jupyter Terminal', port: 8080, innerPort: 8080, path: '/terminals/1' },
    { name: 'vLLM API: v1', port: 8000, innerPort: 18_000, path: '/docs' },
  ])
  expect(shownApps({ apps }).map(({ name }) => name)).toEqual(['ComfyUI', 'vLLM API: v1', 'Instance Portal'])
})

test('OPEN_BUTTON_PORT is a page of its own unless the list has its port', () => {
  const alone = { name: 'Web page', port: 7860, innerPort: 7860, path: '/' }
  expect(webApps([['OPEN_BUTTON_PORT', '7860']])).toEqual([alone])
  const listed: [string, string][] = [
    ['OPEN_BUTTON_PORT', '1111'],
    ['PORTAL_CONFIG', published],
  ]
  expect(webApps(listed)).toHaveLength(5)
  expect(webApps([['OPEN_BUTTON_PORT', '0']])).toEqual([])
})

test.each([
  'localhost:1:2:/:',
  'localhost:1:2:x:No slash',
  'localhost:1:2://other.example/:Elsewhere',
  'localhost:1:2:/a\\b:Backslash',
  'localhost:70000:2:/:Too high',
  'localhost:a:2:/:No number',
  'no colon',
])('%s names no page', entry => {
  expect(webApps([['PORTAL_CONFIG', entry]])).toEqual([])
})

test('whatever an image says, pages are few, named visibly, and stay at their server', () => {
  const entry = fc.tuple(fc.string(), fc.nat(99_999), fc.nat(99_999), fc.string(), fc.string())
  const config = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(entry, { maxLength: 40 }).map(all => all.map(parts => parts.join(':')).join('|')),
    fc
      .array(entry, { maxLength: 40 })
      .map(all =>
        all.map(([host, outer, inner, path, name]) => `${host}:${outer}:${inner}:/${path}:${name}`).join('|'),
      ),
  )
  fc.assert(
    fc.property(config, fc.string(), (portal, port) => {
      const apps = webApps([
        ['PORTAL_CONFIG', portal],
        ['OPEN_BUTTON_PORT', port],
      ])
      expect(apps.length).toBeLessThanOrEqual(16)
      expect(new Set(apps.map(({ name }) => name)).size).toBe(apps.length)
      for (const { name, path, port: outer, innerPort } of apps) {
        expect(name.trim()).not.toBe('')
        expect(name).not.toMatch(/[\p{Cc}\u202e]/u)
        expect([...name].length).toBeLessThanOrEqual(40)
        expect(new URL(path, 'http://berth.localhost:20000').host).toBe('berth.localhost:20000')
        for (const each of [outer, innerPort]) expect(each > 0 && each < 65_536).toBe(true)
      }
    }),
  )
})
