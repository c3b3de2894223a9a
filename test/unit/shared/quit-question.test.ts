import { expect, test } from 'vitest'
import type { FileStep } from '#shared/instance/files.ts'
import { demoEnds, quitQuestion } from '#shared/quit-question.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, emptyState, fileTransferView, instanceView, rentalView, stateWith } from '../views.ts'

const asked = (...accounts: AccountView[]) => quitQuestion(stateWith(...accounts))

test('quitting asks nothing while nothing costs and nothing is under way', () => {
  expect(asked()).toBeUndefined()
  expect(asked(accountView({}, instanceView({ costPerHour: 0, state: 'stopped' })))).toBeUndefined()
})

test('unsaved text in a window is a reason to ask', () => {
  const state = emptyState()
  expect(quitQuestion({ ...state, app: { ...state.app, unsaved: true } })).toMatchObject({
    message: 'Changes are not saved',
    detail: expect.stringContaining('Unsaved changes in a window are lost'),
  })
})

test('the demo’s instances do not count', () => {
  expect(asked(accountView({ id: 'demo', demo: true }, instanceView()))).toBeUndefined()
})

test('a demo is lost with its instances', () => {
  expect(demoEnds(stateWith(accountView({}, instanceView())))).toBeUndefined()
  const demo = accountView({ id: 'demo', demo: true }, instanceView({ id: 1 }), instanceView({ id: 2 }))
  expect(demoEnds(stateWith(demo))).toBe(
    'The demo ends, with its 2 instances and all that they hold, and begins anew next time. None of it costs money.',
  )
  const small = accountView({ id: 'demo', demo: true }, instanceView())
  expect(demoEnds(stateWith(small))).toContain('with its 1 instance and all that it holds,')
})

test('running costs of all accounts are listed, highest first, with their sum', () => {
  const one = accountView({}, instanceView({ id: 1, label: 'disk', state: 'stopped', costPerHour: 6_000 }))
  const two = accountView(
    { id: 'a00000002' },
    instanceView({ id: 2, label: 'llama', costPerHour: 1_200_000 }),
  )
  const question = asked(one, { ...two, volumes: { count: 1, perHour: 14_000, names: [] } })
  expect(question?.message).toBe('2 instances keep costing $1.206/h')
  expect(question?.detail).toContain('\nAnd 1 volume costs $0.014/h\n')
  expect(question?.detail.split('\n').slice(0, 2)).toEqual([
    'llama #2: Running, $1.200/h',
    'disk #1: Stopped, $0.006/h',
  ])
  expect(question?.detail).toContain('you get no alerts')
})

test('many instances are counted, not listed', () => {
  const many = Array.from({ length: 20 }, (_, at) => instanceView({ id: at + 1 }))
  expect(asked(accountView({}, ...many))?.detail).toContain('14 more')
})

test('a rental under way is a reason to ask', () => {
  const question = asked(accountView({ rentals: { r: rentalView() } }))
  expect(question?.message).toBe('Something is still in progress')
  expect(question?.detail).toContain('Renting A100 SXM')
})

test('a running file transfer is a reason to ask, a finished one is not', () => {
  const during = (step: FileStep) => asked(accountView({ fileTransfers: { f: fileTransferView({ step }) } }))
  expect(during('running')?.message).toBe('Something is still in progress')
  expect(during('running')?.detail).toContain('1 file transfer cut off')
  expect(during('done')).toBeUndefined()
})
