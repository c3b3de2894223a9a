import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changesOf, rowsOfPreferences } from '#renderer/screens/account/notifications/preferenceRows.ts'
import {
  readNewWebhook,
  readWebhookChanges,
  webhookDraft,
} from '#renderer/screens/account/notifications/webhookForm.ts'

const channel = fc.constantFrom(true, false, null)
const channels = fc.record({ email: channel, webhooks: channel })
const word = fc.stringMatching(/^[a-z_]{1,8}$/)

test('a form sends everything if nothing could be read, otherwise only changes', () => {
  fc.assert(
    fc.property(
      fc.dictionary(word, fc.dictionary(word, channels, { minKeys: 1 }), { noNullPrototype: true }),
      read => {
        expect(changesOf(rowsOfPreferences(read), undefined)).toMatchObject(read)
        expect(changesOf(rowsOfPreferences(read), read)).toEqual({})
      },
    ),
  )
  const read = { client: { low_credit: { email: true, webhooks: null }, outbid: { email: true } } }
  const rows = rowsOfPreferences(read).map(row =>
    row.event === 'client:outbid' ? { ...row, webhooks: true } : row,
  )
  const added = { event: 'host:machine_offline', email: true, webhooks: false }
  expect(changesOf([...rows, added], read)).toEqual({
    client: { outbid: { webhooks: true } },
    host: { machine_offline: { email: true, webhooks: false } },
  })
  const [known] = rowsOfPreferences({})
  expect(known && changesOf([{ ...known, email: true }], {})).toEqual({
    client: { low_credit: { email: true, webhooks: false } },
  })
})

test('an unknown channel stays null', () => {
  const rows = rowsOfPreferences({ client: { low_credit: { email: null }, outbid: {} } })
  expect(rows).toEqual([
    { event: 'client:low_credit', email: null, webhooks: null },
    { event: 'client:outbid', email: null, webhooks: null },
  ])
})

test('the low credit event has a row even when the service names no events', () => {
  expect(rowsOfPreferences({})).toEqual([{ event: 'client:low_credit', email: false, webhooks: false }])
  expect(rowsOfPreferences(undefined)).toEqual([{ event: 'client:low_credit', email: true, webhooks: false }])
})

const hook = { id: 7, name: 'pager', url: 'https://example.com/hook', events: ['client:outbid'] }

test('only changed fields of a webhook are sent', () => {
  expect(readWebhookChanges({ ...webhookDraft(hook), name: ' siren ' }, hook)).toEqual({
    changes: { name: 'siren' },
  })
  expect(readWebhookChanges({ ...webhookDraft(hook), events: [] }, hook)).toEqual({ changes: { events: [] } })
})

test('a nameless webhook may stay nameless', () => {
  const { name: _, ...nameless } = hook
  const draft = { ...webhookDraft(nameless), url: 'https://example.com/other' }
  expect(readWebhookChanges(draft, nameless)).toEqual({ changes: { url: 'https://example.com/other' } })
})

test('for a webhook known only by id, the filled in fields are sent', () => {
  const empty = webhookDraft(undefined)
  expect(readWebhookChanges({ ...empty, url: 'https://example.com' }, undefined)).toEqual({
    changes: { url: 'https://example.com' },
  })
  expect(readWebhookChanges({ ...empty, url: 'nowhere' }, undefined)).toHaveProperty('errors.url')
})

test('a new webhook needs a full address and an event, but no name', () => {
  expect(readNewWebhook(webhookDraft(undefined))).toEqual({
    errors: {
      url: 'Enter the address to call.',
      events: 'Choose at least one event.',
    },
  })
  const { name, ...nameless } = hook
  const { id: _, ...fields } = nameless
  expect(readNewWebhook(webhookDraft(hook))).toEqual({ fields: { name, ...fields } })
  expect(readNewWebhook({ ...webhookDraft(nameless), name: ' ' })).toEqual({ fields })
  expect(readWebhookChanges({ ...webhookDraft(hook), name: '' }, hook)).toHaveProperty('errors.name')
})
