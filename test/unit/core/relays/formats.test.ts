import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deliveryOf } from '#core/relays/formats.ts'
import { messageOf } from '#core/relays/messages.ts'
import { checkedAddress } from '#core/relays/post.ts'
import type { Told } from '#core/relays/record.ts'
import { relayKinds } from '#shared/relay.ts'

const at = 1_700_000_000_000
const told = (title: string, given: Partial<Told> = {}): Told => ({
  ...{ kind: 'hostGone', title, body: `About ${title}.`, critical: true, at, ...given },
})
const message = messageOf('m1', [told('llama #4711 <!channel> *is* gone')], at)
const bodyOf = (kind: (typeof relayKinds)[number], url = 'https://x.example/hook') =>
  JSON.parse(deliveryOf(kind, { url }, message, at).body) as Record<string, unknown>

describe('a message has', () => {
  test('title and text of its alert, and the time if it is late', () => {
    expect(message).toMatchObject({ title: 'llama #4711 <!channel> *is* gone', critical: true })
    const late = messageOf('m1', [told('llama')], at + 3_600_000)
    expect(late.text).toMatch(/^About llama\.\nTold at \d\d:\d\d\.$|^About llama\.\nTold on /)
  })

  test('counts and the first titles of a storm', () => {
    const storm = Array.from({ length: 60 }, (_, index) =>
      told(`llama ${index}`, index < 2 ? { kind: 'outbid' } : {}),
    )
    const { title, text } = messageOf('m1', storm, at)
    expect(title).toBe('60 alerts')
    expect(text.split('\n')).toEqual([
      'Outbid: 2. Host gone: 58.',
      ...[0, 1, 2, 3, 4, 5].map(index => `llama ${index}.`),
      'And 54 more.',
    ])
  })
})

describe('a delivery', () => {
  test('to ntfy is JSON for its topic', () => {
    const address = { url: 'https://ntfy.sh/sub/my_topic?auth=abc' }
    const { url, body } = deliveryOf('ntfy', address, message, at)
    expect(url).toBe('https://ntfy.sh/sub/?auth=abc')
    expect(JSON.parse(body)).toMatchObject({ topic: 'my_topic', title: message.title, priority: 4 })
    expect(() => deliveryOf('ntfy', { url: 'https://ntfy.sh/' }, message, at)).toThrow('no topic')
  })

  test('mentions nobody and formats nothing in Slack, Discord and Teams', () => {
    expect(bodyOf('slack')['text']).toContain('&lt;!channel&gt; *is*')
    expect(bodyOf('discord')).toMatchObject({
      content: expect.stringContaining(String.raw`\<!channel\> \*is\*`),
      allowed_mentions: { parse: [] },
    })
    expect(JSON.stringify(bodyOf('teams'))).toContain('"TextRun","text":"llama #4711 <!channel> *is* gone"')
  })

  test('to a webhook is signed over id, time and body', () => {
    const secret = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`
    const { headers, body } = deliveryOf('webhook', { url: 'https://x.example/', secret }, message, at)
    const signature = createHmac('sha256', 'k'.repeat(32)).update(`m1.1700000000.${body}`).digest('base64')
    expect(headers).toMatchObject({
      'idempotency-key': 'm1',
      'webhook-id': 'm1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': `v1,${signature}`,
    })
    expect(JSON.parse(body)).toMatchObject({ id: 'm1', count: 1, alerts: [{ kind: 'hostGone' }] })
  })

  test('is never longer than its receiver allows', () => {
    const long = fc.string({ unit: 'binary', minLength: 100, maxLength: 1500 })
    fc.assert(
      fc.property(long, long, fc.constantFrom(...relayKinds), (title, text, kind) => {
        const given = { ...message, title, text, alerts: [] }
        const { body } = deliveryOf(kind, { url: 'https://x.example/topic' }, given, at)
        const content = JSON.parse(body) as { message?: string; content?: string }
        expect(Buffer.byteLength(content.message ?? '')).toBeLessThan(4096)
        expect([...(content.content ?? '')].length).toBeLessThanOrEqual(2000)
      }),
      { numRuns: 30 },
    )
  })
})

test('an address is public https, or on this computer', () => {
  expect(checkedAddress(' https://ntfy.sh/topic ')).toBe('https://ntfy.sh/topic')
  expect(checkedAddress('http://127.0.0.1:8080/x')).toBe('http://127.0.0.1:8080/x')
  for (const address of [
    'http://ntfy.sh/topic',
    'https://10.0.0.7/x',
    'https://[fd00::1]/x',
    'https://169.254.169.254/latest',
    'https://me:secret@ntfy.sh/topic',
    'https://ntfy.sh/topic#part',
    'ftp://ntfy.sh/topic',
    'topic',
    '',
  ])
    expect(() => checkedAddress(address), address).toThrow('Alerts can’t be sent to this address.')
})
