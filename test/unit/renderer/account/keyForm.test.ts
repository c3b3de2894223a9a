import { expect, test } from 'vitest'
import { emptyKeyDraft, type KeyDraft, readKeyDraft } from '#renderer/screens/account/keys/keyForm.ts'
import { mayWords } from '#renderer/screens/account/keys/permissionWords.ts'
import { type Capabilities, publicCapabilities } from '#shared/account/capabilities.ts'

function draft(change: Partial<KeyDraft>, on: Record<string, string> = {}): KeyDraft {
  const empty = emptyKeyDraft()
  const categories = empty.categories.map(category => ({
    ...category,
    on: category.name in on,
    constraints: on[category.name] ?? '',
  }))
  return { ...empty, categories, ...change }
}

test('a key has the chosen categories and their constraints', () => {
  expect(readKeyDraft(draft({ name: ' ci ' }, { misc: '', instance_read: '{"id": [7]}' }))).toEqual({
    request: { name: 'ci', permissions: { misc: {}, instance_read: { id: [7] } } },
  })
})

test('a key with full access has no permissions, whatever was chosen before', () => {
  expect(readKeyDraft(draft({ name: 'all', scope: 'full', params: '{"a": 1}' }, { misc: 'broken' }))).toEqual(
    {
      request: { name: 'all', keyParams: { a: 1 } },
    },
  )
})

test.each([
  ['no name', draft({}, { misc: '' }), { name: 'Enter a name.' }],
  ['no category', draft({ name: 'a' }), { permissions: expect.stringContaining('at least one') }],
  [
    'a list',
    draft({ name: 'a' }, { misc: '[1]' }),
    { 'constraints.misc': expect.stringContaining('JSON object') },
  ],
  [
    'half an object',
    draft({ name: 'a', params: '{' }, { misc: '' }),
    { params: expect.stringContaining('JSON') },
  ],
])('%s is an error at its field', (_, form, errors) => {
  expect(readKeyDraft(form)).toEqual({ errors })
})

test('categories of bills and teams are named where the deployment has them', () => {
  const named = (capabilities?: Capabilities) =>
    emptyKeyDraft(capabilities).categories.map(({ name }) => name)
  const further = ['billing_read', 'billing_write', 'team_read', 'team_write']
  expect(named()).not.toContain('billing_read')
  expect(named(publicCapabilities)).toEqual([...named(), ...further])
  const all = Object.fromEntries(named().map(name => [name, {}]))
  expect(mayWords(all)).not.toContain('but not')
  expect(mayWords({ ...all, billing_read: {} }, publicCapabilities)).toMatch(
    /see charges, but not transfer credit, see the team or change the team\.$/,
  )
})

test('the permissions of a key read as one sentence', () => {
  expect(mayWords({ user_read: {}, instance_read: { id: [7] } })).toBe(
    'It can read the account and see instances (within limits), but not search offers, change the account, rent and change instances, see network disks or change machines.',
  )
  expect(mayWords({})).toBe('It has no permissions.')
})
