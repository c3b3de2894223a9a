import { expect, test } from 'vitest'
import {
  comingUp,
  limitsOn,
  lineOfTime,
  nextSentence,
} from '#renderer/screens/instances/automation/comingUp.ts'
import { placeInDetails } from '#renderer/screens/instances/details/detailsTabs.svelte.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { hinderedLimits, limitHindrance } from '#shared/automation/limit-words.ts'
import { accountView, byId, instanceView, limitView } from '#test/unit/views.ts'

const now = 1_700_000_000
const hour = 3600
const instance = instanceView({ id: 7 })

const limit = (over: Partial<LimitView>) =>
  limitView({ id: 'g1', instance: 7, warning: 900, sentence: 'Stops #7.', ...over })
const account = (...limits: LimitView[]) => accountView({ limits: byId(limits) }, instance)
const sentence = (of: ReturnType<typeof account>, rules = true) =>
  nextSentence(instance, comingUp(of, instance, now), [], rules, now)

test('the sentence names the limit that acts first', () => {
  const of = account(
    limit({ id: 'g1', dueAt: now + 3 * hour, when: { kind: 'time', at: now + 3 * hour } }),
    limit({ id: 'g2', dueAt: now + hour }),
    limit({ id: 'g3', instance: 8, dueAt: now + 60 }),
    limit({ id: 'g4', step: 'off', dueAt: now + 60 }),
  )
  expect(sentence(of)).toMatch(/^Stops at .*, when it has cost \$9\.00\.$/)
  expect(comingUp(of, instance, now).map(({ kind, at }) => [kind, (at - now) / hour])).toEqual([
    ['warns', 0.75],
    ['ends', 1],
    ['warns', 2.75],
    ['ends', 3],
  ])
})

test('a limit that was put off stops when its extension ends, not at its limit', () => {
  const until = now + hour
  expect(sentence(account(limit({ dueAt: until, snoozedUntil: until })))).toMatch(
    /^Stops at .*, when its extension ends\.$/,
  )
  expect(sentence(account(limit({ dueAt: until + 60, snoozedUntil: until })))).toMatch(
    /when it has cost \$9\.00\.$/,
  )
})

test('a limit that would stop a stopped instance is no event, one that would destroy it is', () => {
  const at = now + hour
  const stopped = instanceView({ id: 7, state: 'stopped' })
  const words = (action: 'stop' | 'destroy') => {
    const of = {
      ...account(limit({ when: { kind: 'time', at }, dueAt: at, action })),
      instances: { 7: stopped },
    }
    return nextSentence(stopped, comingUp(of, stopped, now), [], true, now)
  }
  expect(words('stop')).toBe('Its limits are paused while it’s stopped.')
  expect(words('destroy')).toMatch(/^Is destroyed at/)
})

test('of an outbid instance nothing is due', () => {
  const at = now + hour
  const outbid = instanceView({ id: 7, state: 'outbid' })
  const of = {
    ...account(limit({ when: { kind: 'time', at }, dueAt: at, warning: 0 })),
    instances: { 7: outbid },
  }
  const coming = comingUp(of, outbid, now)
  expect(coming).toEqual([])
  const words = 'Its limits are paused while it’s outbid.'
  expect(nextSentence(outbid, coming, [], true, now)).toBe(words)
})

test('an account’s limit doesn’t stop stopped instances, but may destroy them', () => {
  const outbid = instanceView({ id: 7, state: 'outbid' })
  const words = (action: 'stop' | 'destroy') => {
    const { instance: _, ...whole } = limit({ dueAt: now + hour, warning: 0, action })
    return comingUp({ ...account(whole), instances: { 7: outbid } }, outbid, now).map(({ title }) => title)
  }
  expect(words('stop')).toEqual([])
  expect(words('destroy')).toEqual([expect.stringMatching(/^May be destroyed: /)])
})

test('limits that can’t act aren’t events, but a watchdog’s actions are', () => {
  const of = account(limit({ dueAt: now + hour, when: { kind: 'time', at: now + hour } }))
  const watched = account(limit({ dueAt: now + hour, when: { kind: 'time', at: now + hour }, asleep: true }))
  const hindered = hinderedLimits(limitsOn(of, instance).length, limitHindrance({ status: 'locked' }))
  const said = '1 limit is set and can’t act until Berth has the API key again.'
  expect(comingUp(of, instance, now, true)).toEqual([])
  expect(nextSentence(instance, [], [], true, now, hindered)).toBe(said)
  const coming = comingUp(watched, instance, now, true)
  expect(nextSentence(instance, coming, [], true, now, hindered)).toMatch(
    /again\. Stops .*, by its watchdog\.$/,
  )
})

test('a limit that is not counting is no event, and without rules the sentence says so', () => {
  expect(sentence(account(limit({ when: { kind: 'idle', below: 5, seconds: 60 } })))).toMatch(
    /^No limit is due right now/,
  )
  expect(sentence(account(), false)).toBe('Nothing is scheduled.')
})

test('the end of the contract is named where nothing else ends the instance', () => {
  const ending = instanceView({ id: 7, endsAt: now + hour })
  const words = (rules: boolean, ...limits: LimitView[]) =>
    nextSentence(ending, comingUp(account(...limits), ending, now), [], rules, now)
  const stopped = { ...ending, state: 'stopped' as const }
  expect(nextSentence(stopped, comingUp(account(), stopped, now), [], false, now)).toMatch(
    /^No limit of this Berth destroys it before/,
  )
  expect(words(false)).toMatch(/^No limit of this Berth stops it before its contract ends .*\d\d:\d\d\.$/)
  expect(words(true, limit({ dueAt: now + 2 * hour }))).toMatch(/^Stops at/)
  const request = { action: 'destroy', at: now + hour / 2 } as const
  const theirs = { 7: { instance: 7, request, step: 'watching', foreign: true } } as const
  const watched = { ...account(), watchdogs: theirs }
  expect(nextSentence(ending, comingUp(watched, ending, now), [], false, now)).toMatch(
    /^Another Berth’s watchdog destroys it at .*\.$/,
  )
})

test('with accepted prices the contract ends when that of the new ones does', () => {
  const ending = instanceView({ id: 7, endsAt: now + hour })
  const ends = (accepted?: true) => {
    const increase = { id: 1, instance: 7, from: now + hour, until: now + 3 * hour, accepted }
    const all = comingUp({ ...account(), priceIncreases: { 7: increase } }, ending, now)
    return all.map(({ at, title }) => [at - now, title])
  }
  expect(ends()).toEqual([[hour, 'Its contract ends']])
  expect(ends(true)).toEqual([[3 * hour, 'Its contract ends']])
})

test('the time line is certain up to the first end, and leaves out far events', () => {
  const of = account(limit({ dueAt: now + hour }), limit({ id: 'g2', dueAt: now + 4 * hour, warning: 0 }))
  const far = { ...instance, endsAt: now + 40 * 24 * hour }
  const line = lineOfTime(comingUp(of, far, now), now, 1000)
  expect(line?.marks.map(({ sure }) => sure)).toEqual([true, true, false])
  expect(line?.end).toBe(line?.marks[1]?.x)
  expect(line?.beyond.map(({ title }) => title)).toEqual(['Its contract ends'])
})

test('labels that would overlap are left out', () => {
  const near = [0, 1, 2, 3].map(at => limit({ id: `g${at}`, dueAt: now + hour + at * 60, warning: 0 }))
  const sides = lineOfTime(comingUp(account(...near), instance, now), now, 1000)?.marks.map(
    ({ side }) => side,
  )
  expect(sides).toEqual(['below', 'above', undefined, undefined])
})

test('a place is a tab or a section of one', () => {
  expect(placeInDetails('monitor')).toEqual({ tab: 'monitor' })
  expect(placeInDetails('limits')).toEqual({ tab: 'automation' })
  for (const section of ['watchdog', 'runs', 'outbid'])
    expect(placeInDetails(section)).toEqual({ tab: 'automation', section })
  for (const section of ['ports', 'logs', 'history'])
    expect(placeInDetails(section)).toEqual({ tab: 'details', section })
  expect(placeInDetails('nowhere')).toEqual({})
})
