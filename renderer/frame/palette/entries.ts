import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import { instanceMark, type Shape } from '#renderer/bridge/stateWords.ts'
import type { IconName } from '#renderer/components/icons.ts'
import type { Action } from '#renderer/components/menu/menu.ts'
import { instanceActions } from '#renderer/features/instances/actions.ts'
import { openPort } from '#renderer/features/instances/getIn.ts'
import { screens } from '#renderer/features/screens.ts'
import type { AcceleratorName } from '#shared/accelerators.ts'
import { bidsTooLow } from '#shared/automation/bid.ts'
import { isDead } from '#shared/derived.ts'
import { money, rate } from '#shared/format/money.ts'
import { gpuWords, instanceName } from '#shared/format/name.ts'
import { percent } from '#shared/format/size.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { spendWords } from '#shared/spending/spend-words.ts'
import { bestMatches, match } from './match.ts'
import { pageActions } from './pageActions.ts'

/** In the order in which the palette shows them. */
export const groups = ['Offers', 'Saved searches', 'Instances', 'Actions', 'Go to', 'Templates'] as const
export type PaletteGroup = (typeof groups)[number]

/** One entry of the palette. */
export interface Entry {
  key: string
  group: PaletteGroup
  mark: { icon: IconName } | { shape: Shape }
  label: string
  /** The text next to its name, and the text at the end of its line. */
  detail?: string | undefined
  side?: string | undefined
  accelerator?: AcceleratorName | undefined
  danger?: boolean | undefined
  /** Further words by which it is found. */
  words?: string | undefined
  run: () => unknown
  /** At most three further actions. */
  actions?: readonly Action[]
}

const most = 60
/** The commands shown while nothing is typed: the most used ones. */
const usual = ['rent-again', 'rent', 'stop-all', 'rent-with-retries', 'watch']

/** The entries for the typed text: matching things and commands; the most used commands while nothing is typed. */
export function entriesFor(page: Page, typed: string, answers: readonly Entry[]): Entry[] {
  const instances = instanceEntries(page)
  const commands = commandEntries(page)
  if (typed.trim() === '') {
    const done = usual.flatMap(id => commands.filter(({ key }) => key === id))
    return [...instances, ...done, ...commands.filter(({ group }) => group === 'Go to')]
  }
  const matches = [
    ...bestMatches(instances, textOf, typed, 8),
    ...bestMatches([...instanceCommands(page), ...commands], textOf, typed, most),
  ]
  return inGroups([...answers, ...matches, ...portEntries(page, typed)], typed)
}

/** Its own words, and those that people also use for it. */
function textOf({ label, detail = '', group, words = '' }: Entry): readonly [string, string] {
  return [`${label} ${detail} ${group === 'Go to' ? group : ''}`, words]
}

function scoreOf(entry: Entry, typed: string): number | undefined {
  const [text, further] = textOf(entry)
  return match(text, typed, further)
}

/** Keeps groups together. Offers come first, and then the group with the best match: "stop" is a command first. */
function inGroups(entries: readonly Entry[], typed: string): Entry[] {
  const best = (group: PaletteGroup) =>
    group === 'Offers' || group === 'Saved searches'
      ? -1
      : Math.min(
          ...entries
            .filter(entry => entry.group === group)
            .map(entry => scoreOf(entry, typed) ?? Number.MAX_VALUE),
        )
  const ranked = groups.map(group => ({ group, best: best(group) })).sort((a, b) => a.best - b.best)
  return ranked.flatMap(({ group }) => entries.filter(one => one.group === group))
}

/** The one that is open, and then those that run: they cost most, and most can be done with them. */
function instancesByUse(page: Page): InstanceView[] {
  const opened = route.screen === 'instances' ? Number(route.rest[0]) : Number.NaN
  const rank = ({ id, state }: InstanceView) =>
    id === opened ? 0 : state === 'running' ? 1 : hasTrait(state, 'diskOnly') ? 3 : 2
  return Object.values(page.account?.instances ?? {}).sort((a, b) => rank(a) - rank(b))
}

function instanceEntries(page: Page): Entry[] {
  return instancesByUse(page).map(instance => {
    const { word, shape } = instanceMark(instance, page.account?.endings[instance.id])
    return {
      key: `instance-${instance.id}`,
      group: 'Instances',
      mark: { shape },
      label: instanceName(instance),
      detail: [word, detailOf(instance)].filter(Boolean).join(', '),
      run: () => route.go(`instances/${instance.id}`),
      actions: actionsOf(instance, page),
    }
  })
}

function detailOf({ state, gpu, gpuLoad, diskPricePerHour }: InstanceView): string {
  if (hasTrait(state, 'startable'))
    return diskPricePerHour === undefined ? '' : `disk only ${rate(diskPricePerHour)}`
  const machine = gpu ? gpuWords({ gpuCount: gpu.count, gpuName: gpu.name }) : ''
  return state === 'running' && gpuLoad !== undefined ? `${machine}, ${percent(gpuLoad)}` : machine
}

/** The actions on an instance, those that fit its state first. */
function actionsOf(instance: InstanceView, page: Page): Action[] {
  const fitting =
    instance.state === 'running'
      ? ['terminal', 'jupyter', 'stop']
      : instance.state === 'outbid' || (hasTrait(instance.state, 'startable') && bidsTooLow(instance))
        ? ['bid', 'destroy']
        : isDead(instance)
          ? ['log', 'reboot', 'another']
          : hasTrait(instance.state, 'startable')
            ? ['start', 'destroy']
            : ['stop', 'destroy']
  const all = instanceActions(instance, page)
  return fitting.flatMap(id => all.find(one => one.id === id && one.unusable === undefined) ?? [])
}

/** A port is opened on the instances that run: `7860`, `open port 7860`, `forward :7860 train-a`. */
function portEntries(page: Page, typed: string): Entry[] {
  const words = typed.trim().toLowerCase().split(/\s+/)
  const port = Number(words.map(word => /^:?(\d{2,5})$/.exec(word)?.[1]).find(Boolean) ?? 0)
  if (port < 1 || port > 65_535) return []
  const entries = instancesByUse(page)
    .filter(({ state }) => state === 'running')
    .map(instance => ({
      key: `port-${instance.id}`,
      group: 'Actions' as const,
      mark: { icon: 'right' as const },
      label: `Open port ${port}`,
      detail: instanceName(instance),
      words: `forward :${port}`,
      run() {
        // Its progress is shown there.
        route.go(`instances/${instance.id}/ports`)
        return openPort(page, instance, port)
      },
    }))
  return bestMatches(entries, textOf, typed, 8)
}

/** All actions on all instances, found by their words; no stop of what does not run, which its own menu has. */
function instanceCommands(page: Page): Entry[] {
  return instancesByUse(page).flatMap(instance =>
    instanceActions(instance, page)
      .filter(
        ({ id, unusable }) =>
          unusable === undefined && !(id === 'stop' && hasTrait(instance.state, 'diskOnly')),
      )
      .map(action => ({
        key: `${instance.id} ${action.id}`,
        group: 'Actions' as const,
        mark: { icon: action.icon ?? iconOf(action.id) },
        label: action.label,
        detail: instanceName(instance),
        danger: action.danger,
        words: actionWords[action.id],
        run: action.run,
      })),
  )
}

function commandEntries(page: Page): Entry[] {
  return pageActions(page).map(({ id, label, accelerator, danger, words, run }) => {
    const screen = screens.find(one => `go-${one.id}` === id)
    return {
      key: id,
      group: screen ? 'Go to' : 'Actions',
      mark: { icon: screen?.icon ?? iconOf(id) },
      label: screen?.label ?? label,
      side: id === 'go-spending' && page.account ? spendWords(page.account) : undefined,
      detail:
        id === 'go-account' && page.account?.credit !== undefined ? money(page.account.credit) : undefined,
      accelerator,
      danger,
      words,
      run,
    }
  })
}

/** What people also call the actions on an instance. */
const actionWords: Readonly<Record<string, string>> = {
  destroy: 'delete remove terminate kill',
  terminal: 'shell ssh console',
  stop: 'pause halt',
  start: 'resume boot',
  limits: 'timer',
  bid: 'outbid',
  reboot: 'reboot',
  rename: 'name label',
  ports: 'forward tunnel',
}

const icons: Readonly<Record<string, IconName>> = {
  rent: 'plus',
  'rent-again': 'play',
  'rent-with-retries': 'transfers',
  watch: 'bookmark',
  watches: 'bookmark',
  refresh: 'refresh',
  connect: 'key',
  login: 'key',
  'new-key': 'key',
  'replace-key': 'key',
  'stop-all': 'stop',
  report: 'warning',
  'add-credit': 'spending',
  'new-copy': 'transfers',
  'new-sync': 'transfers',
  'new-template': 'templates',
}

function iconOf(id: string): IconName {
  if (id.startsWith('run-')) return 'play'
  if (id.startsWith('project-')) return 'projects'
  return icons[id] ?? (id.startsWith('account-') ? 'accounts' : 'right')
}
