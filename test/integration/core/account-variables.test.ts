import { expect } from 'vitest'
import { jobTimes, jobTitle } from '#shared/account/records.ts'
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

test('scheduled jobs, noted calls and SSH keys of the account are listed and deleted, where the service has them', async ({
  openWorld,
}) => {
  const world = await openWorld({ deployment: publicProfile, limits: false })
  const under = await world.startConnected()
  const headers = { authorization: `Bearer ${world.sim.apiKey}` }
  const body = JSON.stringify({
    ...{ instance_id: 7, api_endpoint: '/api/v0/instances/bid_price/7/', request_method: 'PUT' },
    ...{ start_time: 1, end_time: 2, frequency: 'WEEKLY', day_of_the_week: 0, hour_of_the_day: 2 },
  })
  await fetch(`${world.sim.baseUrl}/api/v0/commands/schedule_job/`, { method: 'POST', headers, body })
  const [job] = await under.run('listScheduledJobs', {})
  expect(job && [jobTitle(job), jobTimes(job)]).toEqual([
    'Changes the bid of #7',
    'Every Sunday at 02:00 UTC',
  ])
  expect(await under.run('listNotedCalls', {})).toMatchObject([{ call: '/commands/schedule_job/' }])
  await under.run('deleteScheduledJob', { id: job?.id ?? 0 })
  expect(await under.run('listScheduledJobs', {})).toEqual([])
  await under.run('addAccountSshKey', { publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA laptop' })
  const [key] = await under.run('listAccountSshKeys', {})
  await under.run('deleteAccountSshKey', { id: key?.id ?? 0 })
  expect(await under.run('listAccountSshKeys', {})).toEqual([])
})
