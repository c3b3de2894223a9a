import { expect } from 'vitest'
import { rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test.concurrent('a note and tags are kept over a restart, and an empty note is removed', async ({
  connected,
}) => {
  const { world, under: first } = await connected()
  const { id } = await rentRunning(first)
  await first.run('noteInstance', { instance: id, note: ' keep ', tags: ['paper'] })
  expect(first.account().notes).toEqual({ [id]: { note: 'keep', tags: ['paper'] } })
  await first.close()

  const second = await world.start()
  await second.until(() => second.account().notes[id]?.note === 'keep')
  await second.until(() => second.account().instances[id] !== undefined)
  await expect(second.run('noteInstance', { instance: id, note: '', tags: ['two words'] })).rejects.toThrow()
  await second.run('noteInstance', { instance: id, note: '', tags: [] })
  expect(second.account().notes).toEqual({})
})
