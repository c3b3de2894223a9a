import { expect, test } from 'vitest'
import { freezeWords } from '#core/freeze-words.ts'

const freeze = { at: 1_800_000_000_000, seconds: 60, restarted: true }

test('a restart after a freeze says whether limits act again, or which account needs its key', () => {
  expect(freezeWords(freeze)).toMatchObject({
    title: 'Berth froze for 1 min and restarted',
    body: expect.stringMatching(/They act again now\.$/),
  })
  const { title, body } = freezeWords(freeze, ['Lab'])
  expect(title).toBe('Berth restarted and needs the key again')
  expect(body).toContain('Nothing acts for Lab until you enter the API key')
  expect(body).not.toContain('act again now')
})

test('a freeze without a restart loses no key', () => {
  expect(freezeWords({ ...freeze, restarted: false }, ['Lab']).title).toBe('Berth froze for 1 min')
})
