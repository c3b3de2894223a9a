import { expect, test } from 'vitest'
import {
  instanceChoices,
  onlyOther,
  readCopy,
  readSync,
  type SyncDraft,
} from '#renderer/screens/transfers/transferForm.ts'
import { instanceView } from '#test/unit/views.ts'

const sync: SyncDraft = {
  instance: '7',
  direction: 'Cloud To Instance',
  instancePath: '/workspace',
  cloudPath: 'bucket/data',
  connection: '12',
  flags: '',
}

test('every empty field of a copy has its own error', () => {
  expect(readCopy({ from: '', fromPath: ' ', to: '', toPath: '' })).toEqual({
    errors: {
      from: 'Choose the instance to copy from.',
      fromPath: 'Enter the path to copy from.',
      to: 'Choose the instance to copy to.',
      toPath: 'Enter the path to copy to.',
    },
  })
})

test('two instances that are not chosen yet do not count as the same', () => {
  expect(readCopy({ from: '', fromPath: '/data/', to: '', toPath: '/data/' })).toEqual({
    errors: { from: 'Choose the instance to copy from.', to: 'Choose the instance to copy to.' },
  })
})

test('a copy onto itself is refused, to another path or instance allowed', () => {
  expect(readCopy({ from: '7', fromPath: '/a', to: '7', toPath: '/a' })).toEqual({
    errors: { toPath: 'Choose another folder than the source.' },
  })
  expect(readCopy({ from: '7', fromPath: '/a', to: '8', toPath: '/a' })).toHaveProperty('value')
})

test.each(['/root', '/root/', '/', '//root', '/root/.ssh', '/data/../root', '~/.ssh/keys', '/etc/ssh'])(
  'nothing is written over %s, which would break SSH',
  path => {
    const errors = { errors: expect.any(Object) }
    expect(readCopy({ from: '7', fromPath: '/a', to: '8', toPath: path })).toEqual({
      errors: { toPath: expect.stringContaining('can break SSH') },
    })
    expect(readSync({ ...sync, instancePath: path })).toEqual({
      errors: { instancePath: expect.stringContaining('can break SSH') },
    })
    expect(readSync({ ...sync, direction: 'Instance To Cloud', instancePath: path })).not.toEqual(errors)
    expect(readCopy({ from: '7', fromPath: path, to: '8', toPath: '/root/a' })).toHaveProperty('value')
  },
)

test('flags are split as on a command line', () => {
  expect(readSync({ ...sync, flags: '--transfers 8  --exclude "my files/**"' })).toMatchObject({
    value: { flags: ['--transfers', '8', '--exclude', 'my files/**'] },
  })
  expect(readSync({ ...sync, flags: '--exclude "oh' })).toEqual({
    errors: { flags: 'A quote is not closed.' },
  })
})

test('a sync without a connection names the missing field', () => {
  expect(readSync({ ...sync, connection: '', cloudPath: '' })).toEqual({
    errors: {
      cloudPath: 'Enter the path in the cloud.',
      connection: 'Enter the id of the cloud connection.',
    },
  })
})

test('running instances are listed first and by name, others with their state', () => {
  const instances = {
    9: instanceView({ id: 9, state: 'stopped' }),
    8: instanceView({ id: 8 }),
    10: instanceView({ id: 10, label: 'train-9' }),
    7: instanceView({ id: 7, label: 'train-10' }),
  }
  expect(instanceChoices(instances)).toEqual([
    { value: '8', label: 'Instance #8' },
    { value: '10', label: 'train-9 #10' },
    { value: '7', label: 'train-10 #7' },
    { value: '9', label: 'Instance #9 (stopped)' },
  ])
})

test('the copy target is preset only if exactly one other instance runs', () => {
  const two = {
    9: instanceView({ id: 9 }),
    8: instanceView({ id: 8 }),
    7: instanceView({ id: 7, state: 'stopped' }),
  }
  expect(onlyOther(two, '8')).toBe('9')
  expect(onlyOther(two, '7')).toBe('')
  expect(onlyOther(two, '')).toBe('')
  expect(onlyOther({ ...two, 6: instanceView({ id: 6 }) }, '8')).toBe('')
})
