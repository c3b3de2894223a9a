import { afterEach, beforeEach, expect, test } from 'vitest'
import { carryOut } from '#core/limits/act.ts'
import { createClient } from '#service/client.ts'
import { json, ScriptedService } from '#test/unit/service/scripted-service.ts'

let service: ScriptedService
beforeEach(async () => {
  service = await ScriptedService.start()
})
afterEach(() => service.stop())

const stopOne = () =>
  carryOut([{ instance: 4019, action: 'stop' }], {
    client: () => createClient({ baseUrl: service.baseUrl, key: 'k' }),
    before: async ({ action }) => action,
    ending: new AbortController().signal,
    wanted: () => true,
  })

test('a limit that may not stop says whether a permission or a login is missing', async () => {
  service.script = [
    json({ success: false, msg: 'You may not change instances.' }, 403),
    json({ success: false, error: 'auth_error', msg: 'Two Factor Authentication required' }, 401),
  ]
  expect(await stopOne()).toMatchObject({
    done: [],
    problem: { code: 'forbidden', message: expect.stringContaining('lacks the permission instance_write') },
  })
  expect(await stopOne()).toMatchObject({
    done: [],
    problem: {
      code: 'tfa_needed',
      message: 'The service requires a two-factor login for this.',
      facts: { 'The service says': 'Two Factor Authentication required' },
    },
  })
})
