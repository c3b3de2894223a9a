import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Link, linkTarget, parseLink } from '#core/outside-link.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

test.each<[string, Link]>([
  ['berth://instance/4711', { to: 'place', place: { screen: 'instances', instance: 4711 } }],
  [
    'berth://instance/4711/terminal?account=a0000000f',
    {
      to: 'place',
      place: { screen: 'instances', instance: 4711, ask: 'terminal' },
      account: 'a0000000f',
    },
  ],
  ['berth://activity/', { to: 'place', place: { screen: 'activity' } }],
  [
    'berth://run?project=p0000000000000001',
    { to: 'place', place: { screen: 'projects', project: 'p0000000000000001', ask: 'run' } },
  ],
  ['berth://offers', { to: 'place', place: { screen: 'offers' } }],
  ['berth://demo/', { to: 'demo' }],
])('%s is a link', (text, link) => expect(parseLink(text)).toEqual(link))

test('a link to offers gives the search that the page would save', () => {
  const link = parseLink('berth://offers?gpu=H100%20SXM&gpu=H200&max=2.5&count=8&type=bid&region=SE')
  expect(link).toMatchObject({
    place: {
      screen: 'offers',
      search: {
        query: { type: 'bid', verifiedOnly: true },
        filter: { gpus: ['H100 SXM', 'H200'], priceTo: 2.5, countFrom: 8, countTo: 8, regions: ['SE'] },
      },
    },
  })
})

test.each([
  '',
  'berth:',
  'berth://',
  'berth:instance/4711',
  'https://instance/4711',
  'berth://instance',
  'berth://instance/',
  'berth://instance/0',
  'berth://instance/04711',
  'berth://instance/-1',
  'berth://instance/4.7',
  'berth://instance/99999999999999999',
  'berth://instance/4711/destroy',
  'berth://instance/4711/terminal/x',
  'berth://instance/4711?run=rm',
  'berth://instance/4711?account=../x',
  'berth://instance/4711?account=demo&account=demo',
  'berth://user:secret@instance/4711',
  'berth://instance:80/4711',
  'berth://instance/4711#x',
  'berth://instance/4711 --browser',
  'berth://run',
  'berth://run?project=../etc',
  'berth://run?project=p0000000000000001&project=p0000000000000001',
  'berth://run/p0000000000000001',
  'berth://offers?max=-1',
  'berth://offers?max=1&max=2',
  'berth://offers?constructor=1',
  'berth://offers?__proto__=1',
  'berth://offers?type=reserved',
  'berth://demo?x=1',
  'berth://connect?key=x',
])('%s is refused', text => expect(parseLink(text)).toBeUndefined())

test('any link only shows a place or asks, and never throws', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.webUrl(),
    fc.constantFrom(
      'berth://',
      'instance/',
      'offers?',
      'demo',
      'account=demo',
      '4711',
      '/terminal',
      '%2e%2e/',
      '&max=1',
      '\n',
      '\u202e',
    ),
  )
  const text = fc.array(piece, { maxLength: 6 }).map(pieces => pieces.join(''))
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        text.map(rest => `berth://${rest}`),
        text.map(rest => `berth://offers?${rest}`),
      ),
      given => {
        const link = parseLink(given)
        if (link === undefined || link.to === 'demo') return
        expect(link.account ?? 'demo').toMatch(/^(a[0-9a-f]{8}|demo)$/)
        if (link.place.screen === 'instances') {
          expect(Number.isSafeInteger(link.place.instance)).toBe(true)
          expect([undefined, 'terminal']).toContain(link.place.ask)
        } else expect(['offers', 'projects', 'activity', 'settings', 'account']).toContain(link.place.screen)
      },
    ),
    { numRuns: 1000 },
  )
})

const one = accountView({}, instanceView({ id: 1 }))
const two = accountView({ id: 'a00000002' }, instanceView({ id: 2 }))
const project = { id: 'p0000000000000001', name: 'mnist', folder: '~/mnist', problems: [] }
const state = {
  shown: one.id,
  accounts: { [one.id]: one, [two.id]: two },
  projects: { [project.id]: project },
}
const instance = (id: number, account?: string): Link => ({
  to: 'place',
  place: { screen: 'instances', instance: id },
  ...(account === undefined ? {} : { account }),
})

test('an instance is sought on all accounts, or only on the one the link names', () => {
  expect(linkTarget(instance(1), state)).toMatchObject({ account: one.id })
  expect(linkTarget(instance(2), state)).toMatchObject({ account: two.id })
  expect(linkTarget(instance(2, one.id), state)).toMatchObject({ problem: { code: 'no_such_instance' } })
  expect(linkTarget(instance(3), state)).toMatchObject({ problem: { code: 'no_such_instance' } })
  expect(linkTarget(instance(1, 'a00000009'), state)).toMatchObject({ problem: { code: 'no_such_account' } })
  expect(linkTarget({ to: 'demo' }, state)).toMatchObject({ problem: { code: 'no_demo' } })
})

test('a link to run a project opens a listed one and refuses others', () => {
  const run = (id: string) =>
    linkTarget({ to: 'place', place: { screen: 'projects', project: id, ask: 'run' } }, state)
  expect(run(project.id)).toMatchObject({ account: one.id, place: { project: project.id, ask: 'run' } })
  expect(run('p0000000000000002')).toMatchObject({ problem: { code: 'no_such_project' } })
})
