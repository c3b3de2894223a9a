import { copySshLine } from '#renderer/bridge/copyAndSave.ts'
import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import type { Action } from '#renderer/components/menu/menu.ts'
import { letterOf } from '#shared/accelerators.ts'
import { canGetIn, isContractOver, isDead } from '#shared/derived.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { hasTrait } from '#shared/instance/state-traits.ts'
import { shownApps } from '#shared/instance/web-apps.ts'
import { canPrepay } from '#shared/spending/prepaying.ts'
import { idleLimit } from '../limits/rentalLimits.ts'
import { openApp, openInEditor, openJupyter } from './getIn.ts'
import { act } from './startAndStop.ts'

/** Actions that fail while the service does not answer. */
const needsService: ReadonlySet<string> = new Set([
  ...[
    'stop',
    'start',
    'resume',
    'reboot',
    'rename',
    'bid',
    'prepay',
    'another',
    'attach',
    'report-machine',
    'destroy',
  ],
])

/**
 * The actions that an instance's present state allows, in menu order: open, run, limit, copy, manage, destroy; with why,
 * where one cannot be done now.
 */
export function instanceActions(instance: InstanceView, page: Page): Action[] {
  const { unreachable } = page
  return actionsOf(instance, page).map(action =>
    unreachable !== undefined && needsService.has(action.id) ? { ...action, unusable: unreachable } : action,
  )
}

/** Does what a key stands for, such as `s` for Stop, unless that is not possible now; gives whether one does. */
export function pressAction(event: KeyboardEvent, actions: readonly Action[]): boolean {
  const action = actions.find(one => one.key === event.key || one.key === letterOf(event))
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return false
  event.preventDefault()
  if (action.unusable === undefined) action.run()
  return true
}

function actionsOf(instance: InstanceView, page: Page): Action[] {
  const shut = canGetIn(instance) ? undefined : 'You can connect once it’s running.'
  const go = (to: string) => () => route.go(`instances/${instance.id}/${to}`)
  const ask = (kind: 'rename' | 'bid' | 'prepay' | 'another' | 'reportMachine' | 'destroy') => () =>
    dialogs.show({ kind, instance: instance.id })
  const [attach, copy, system] = ownSsh(instance, page, shut)
  return [
    { id: 'terminal', label: 'Terminal', icon: 'terminal', key: 't', unusable: shut, run: go('terminal') },
    {
      id: 'jupyter',
      label: 'Jupyter',
      icon: 'notebook',
      key: 'j',
      unusable: shut,
      run: () => openJupyter(page, instance),
    },
    ...shownApps(instance).map(
      ({ name }): Action => ({
        id: `app-${name}`,
        label: `Open ${name}`,
        icon: 'popOut',
        unusable: shut,
        run: () => openApp(page, instance, name),
      }),
    ),
    {
      id: 'editor',
      label: 'Editor',
      icon: 'popOut',
      key: 'e',
      unusable: shut,
      run: () => openInEditor(page, instance),
    },
    { id: 'files', label: 'Files', icon: 'folder', unusable: shut, run: go('files') },
    { id: 'ports', label: 'Ports', icon: 'link', unusable: shut, run: go('ports') },
    { id: 'monitor', label: 'Monitor', icon: 'activity', run: go('monitor') },
    system,
    { id: 'runs', label: 'Run a command…', icon: 'play', first: true, run: go('run') },
    { id: 'run-stop', label: 'Run, then stop…', icon: 'stop', run: go('run-stop') },
    { ...idleLimit(instance, page), icon: 'bolt', first: true },
    { id: 'limits', label: 'Limits', icon: 'clock', run: go('limits') },
    copy,
    attach,
    {
      id: 'copy-data',
      label: 'Copy data…',
      icon: 'transfers',
      run: () => route.go(`transfers/copy/${instance.id}`),
    },
    { ...startOrStop(instance, page), first: true },
    ...(instance.state === 'frozen'
      ? [{ id: 'resume', label: 'Resume', icon: 'play', run: () => page.actSoon(instance, 'start') } as const]
      : []),
    {
      id: 'reboot',
      label: 'Restart',
      icon: 'refresh',
      unusable:
        instance.state === 'running' || instance.state === 'crashed'
          ? undefined
          : 'Only a running instance can be restarted.',
      run: () => act('reboot', instance, page),
    },
    { id: 'rename', label: 'Rename', icon: 'chat', key: 'r', run: ask('rename') },
    {
      id: 'bid',
      label: 'Change bid',
      icon: 'spending',
      key: 'b',
      unusable: instance.interruptible ? undefined : 'It was rented at a fixed price.',
      run: ask('bid'),
    },
    ...(page.account && canPrepay(page.account, instance, page.accountNow)
      ? [{ id: 'prepay', label: 'Prepay…', icon: 'spending', run: ask('prepay') } as const]
      : []),
    ...priceAnswers(instance, page),
    ...(page.account?.capabilities.takesReports && instance.machineId !== undefined
      ? [
          {
            id: 'report-machine',
            label: 'Report the machine…',
            icon: 'warning',
            run: ask('reportMachine'),
          } as const,
        ]
      : []),
    ...(instance.state === 'crashed'
      ? [{ id: 'log', label: 'Log', icon: 'activity', run: go('logs') } as const]
      : []),
    ...(isDead(instance) && page.account?.capabilities.keepsBackups
      ? [
          {
            id: 'backups',
            label: 'Look for a backup',
            icon: 'transfers',
            run: () => route.go('account'),
          } as const,
        ]
      : []),
    ...(isDead(instance)
      ? [{ id: 'another', label: 'Move to another machine…', icon: 'search', run: ask('another') } as const]
      : []),
    {
      id: 'destroy',
      label: 'Destroy…',
      icon: 'trash',
      key: 'Delete',
      danger: true,
      first: true,
      run: ask('destroy'),
    },
  ]
}

function startOrStop(instance: InstanceView, page: Page): Action {
  if (!hasTrait(instance.state, 'halted'))
    return {
      id: 'stop',
      label: instance.state === 'waiting' ? 'Cancel start' : 'Stop',
      icon: 'stop',
      key: 's',
      run: () => act('stop', instance, page),
    }
  return {
    id: 'start',
    label: 'Start',
    icon: 'play',
    key: 's',
    unusable: isContractOver(instance, page.accountNow) ? 'Its contract is over.' : undefined,
    run: () => act('start', instance, page),
  }
}

/** Actions for users with an SSH client of their own: to attach a key, to copy a command, to open a terminal. */
function ownSsh(instance: InstanceView, page: Page, shut: string | undefined): [Action, Action, Action] {
  const { berth, state } = page
  const on = { instance: instance.id }
  const noTerminal = state?.app.terminals.length === 0 && state.settings.terminal.command.length === 0
  return [
    {
      id: 'attach',
      label: 'Attach key',
      icon: 'key',
      run: async () => {
        if ((await page.attempt(berth.attachKey(on).then(() => true))) === true)
          page.say(`Your SSH key is attached to ${instanceName(instance)}.`)
      },
    },
    {
      id: 'copy',
      label: 'Copy SSH command',
      icon: 'copy',
      first: true,
      key: 'c',
      unusable: shut,
      run: async () => {
        const command = await page.attempt(berth.sshCommand(on))
        if (command !== undefined) await copySshLine(page, command)
      },
    },
    {
      id: 'system',
      label: 'Open in system terminal',
      icon: 'terminal',
      unusable: noTerminal ? 'No terminal program was found here.' : shut,
      run: () => page.attempt(berth.openSystemTerminal(on)),
    },
  ]
}

/** Actions on a host's open request for higher prices. */
function priceAnswers({ id: instance }: InstanceView, page: Page): Action[] {
  const increase = page.account?.priceIncreases[instance]
  if (!increase || increase.accepted) return []
  return (['accept', 'refuse'] as const).map(answer => ({
    id: `${answer}-prices`,
    label: answer === 'accept' ? 'Accept the new prices…' : 'Refuse the new prices…',
    icon: 'spending',
    run: () => dialogs.show({ kind: 'priceIncrease', instance, answer }),
  }))
}
