import { expect } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { codeOf, everyFile } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test('variables of the account are added, changed and deleted, and their values kept nowhere', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  expect(await under.run('listVariables', {})).toEqual([])
  await under.run('addVariable', { name: 'hf_token', value: 'value-of-it-1' })
  expect(await under.run('listVariables', {})).toEqual(['HF_TOKEN'])
  expect(await codeOf(under.run('addVariable', { name: 'HF_TOKEN', value: 'value-of-it-2' }))).toBe('refused')
  await under.run('changeVariable', { name: 'HF_TOKEN', value: 'value-of-it-3' })
  expect(await codeOf(under.run('changeVariable', { name: 'OTHER', value: 'x' }))).toBe('refused')
  expect(await codeOf(under.run('addVariable', { name: '1 A', value: 'x' }))).toBe('invalid_argument')
  const noted = JSON.stringify(under.berth.state())
  expect(noted).toContain('Changed the variable HF_TOKEN')
  await under.run('deleteVariable', { name: 'HF_TOKEN' })
  expect(await under.run('listVariables', {})).toEqual([])
  await under.close()
  const files = [...(await everyFile(world)).values()]
  expect([noted, ...files].join('\n')).not.toContain('value-of-it')
})

test('a service without variables of the account says so', async ({ world }) => {
  const under = await world.startConnected()
  expect(await codeOf(under.run('listVariables', {}))).toBe('not_supported')
})
