import { guardsSet } from '../../../electron/contract/automation/guard.ts'
import { instanceName } from '../../../electron/contract/format/name.ts'
import type { InstanceView } from '../../../electron/contract/instance/instance.ts'
import { hasTrait } from '../../../electron/contract/instance/state-traits.ts'
import { canGetIn, isContractOver, isDead } from '../../../electron/contract/reading.ts'
import { copyAndSay } from '../../berth/clipboard.ts'
import { copyDiagnostics } from '../../berth/copyDiagnostics.ts'
import type { Page } from '../../berth/page.svelte.ts'
import { dialogs } from '../../place/dialogs.svelte.ts'
import { route } from '../../place/route.svelte.ts'
import { idleStop } from '../guards/idleStop.ts'
import { screens } from '../screens.ts'
import type { Action } from './action.ts'
import { dueActions } from './dueActions.ts'
import { openEditor, openJupyter } from './getIn.ts'
import { start } from './start.ts'
import { stop } from './stop.ts'

/** What can be done with an instance as it is now, in the order of its menu. */
export function instanceActions(instance: InstanceView, page: Page): Action[] {
  const on = { instance: instance.id }
  const name = instanceName(instance)
  const { berth } = page
  const stopped = hasTrait(instance.state, 'halted')
  const shut = canGetIn(instance) ? undefined : 'It can be entered once it runs.'
  const actions: Action[] = [
    {
      id: 'terminal',
      label: 'Terminal',
      key: 't',
      unusable: shut,
      run: () => route.go(`instances/${instance.id}/terminal`),
    },
    { id: 'jupyter', label: 'Jupyter', key: 'j', unusable: shut, run: () => openJupyter(page, instance) },
    { id: 'editor', label: 'Editor', key: 'e', unusable: shut, run: () => openEditor(page, instance) },
    {
      id: 'files',
      label: 'Files',
      unusable: shut,
      run: () => route.go(`instances/${instance.id}/files`),
    },
    {
      id: 'ports',
      label: 'Ports',
      unusable: shut,
      run: () => route.go(`instances/${instance.id}/ports`),
    },
    stopped
      ? {
          id: 'start',
          label: 'Start',
          key: 's',
          unusable: isContractOver(instance, page.accountNow) ? 'Its contract is over.' : undefined,
          run: () => start(instance, page),
        }
      : {
          id: 'stop',
          label: instance.state === 'waiting' ? 'Cancel start' : 'Stop',
          key: 's',
          run: () => stop(instance, page),
        },
    idleStop(instance, page),
    {
      id: 'rename',
      label: 'Rename',
      key: 'r',
      run: () => dialogs.show({ kind: 'rename', instance: instance.id }),
    },
    {
      id: 'bid',
      label: 'Change bid',
      key: 'b',
      unusable: instance.interruptible ? undefined : 'It was rented at a fixed price.',
      run: () => dialogs.show({ kind: 'bid', instance: instance.id }),
    },
    {
      id: 'attach',
      label: 'Attach key',
      run: async () => {
        if ((await page.attempt(berth.attachKey(on).then(() => true))) === true)
          page.say(`Your SSH key is attached to ${name}.`)
      },
    },
    {
      id: 'copy',
      label: 'Copy SSH command',
      key: 'c',
      unusable: shut,
      run: async () => {
        const command = await page.attempt(berth.sshCommand(on))
        if (command !== undefined) await copyAndSay(page, command, 'SSH command copied.', command)
      },
    },
    {
      id: 'system',
      label: 'Open in system terminal',
      unusable:
        page.state?.app.terminals.length === 0 && page.state.settings.terminal.command.length === 0
          ? 'No terminal program was found here.'
          : shut,
      run: () => page.attempt(berth.openSystemTerminal(on)),
    },
    { id: 'monitor', label: 'Monitor', run: () => route.go(`instances/${instance.id}/monitor`) },
    { id: 'automation', label: 'Automation', run: () => route.go(`instances/${instance.id}/automation`) },
    { id: 'runs', label: 'Run a command…', run: () => route.go(`instances/${instance.id}/run`) },
    { id: 'run-stop', label: 'Run, then stop…', run: () => route.go(`instances/${instance.id}/run-stop`) },
    {
      id: 'copy-data',
      label: 'Copy data…',
      run: () => route.go(`transfers/copy/${instance.id}`),
    },
    {
      id: 'reboot',
      label: 'Reboot',
      unusable: instance.state === 'running' ? undefined : 'Only a running instance can be rebooted.',
      run: () => page.actSoon(instance, 'reboot'),
    },
  ]
  const increase = page.account?.priceIncreases[instance.id]
  if (increase && !increase.accepted)
    for (const [answer, label] of [
      ['accept', 'Accept the new prices…'],
      ['refuse', 'Refuse the new prices…'],
    ] as const)
      actions.push({
        id: `${answer}-prices`,
        label,
        run: () => dialogs.show({ kind: 'priceIncrease', instance: instance.id, answer }),
      })
  if (isDead(instance))
    actions.push({
      id: 'another',
      label: 'Try another…',
      run: () => dialogs.show({ kind: 'another', instance: instance.id }),
    })
  actions.push({
    id: 'destroy',
    label: 'Destroy…',
    key: 'Delete',
    danger: true,
    run: () => dialogs.show({ kind: 'destroy', instance: instance.id }),
  })
  return actions
}

/** What can be done wherever one is. */
export function pageActions(page: Page): Action[] {
  const { berth, state } = page
  const actions: Action[] = screens.map(screen => ({
    id: `go-${screen.id}`,
    label: `Go to ${screen.label}`,
    ...(screen.id !== 'account' && { accelerator: screen.id }),
    run: () => route.go(screen.id),
  }))
  actions.push(
    { id: 'rent', label: 'Rent a GPU', run: () => route.go('offers') },
    { id: 'rent-with-failover', label: 'Rent with failover…', run: () => route.go('offers/failover') },
    { id: 'watch', label: 'Watch a search of the market…', run: () => route.go('offers/watch') },
    { id: 'watches', label: 'Watches of the market', run: () => route.go('offers/watches') },
    {
      id: 'refresh',
      label: 'Refresh',

      run: () => page.attempt(berth.refresh({})),
    },
    {
      id: 'connect',
      label: 'Connect an account…',

      run: () => dialogs.show({ kind: 'connect' }),
    },
    { id: 'stop-all', label: 'Stop everything…', run: () => dialogs.show({ kind: 'stopAll' }) },
    { id: 'new-template', label: 'Write a template…', run: () => route.go('templates/new') },
    { id: 'new-key', label: 'Make an API key…', run: () => route.go('account/keys/new') },
    { id: 'add-method', label: 'Add a two-factor method…', run: () => route.go('account/two-factor/new') },
    { id: 'new-webhook', label: 'Make a webhook…', run: () => route.go('account/webhooks/new') },
    { id: 'login', label: 'Log in with two factors…', run: () => dialogs.show({ kind: 'login' }) },
    { id: 'new-copy', label: 'Copy data between instances…', run: () => route.go('transfers/copy') },
    { id: 'new-sync', label: 'Cloud sync…', run: () => route.go('transfers/sync') },
    { id: 'diagnostics', label: 'Copy diagnostics', run: () => copyDiagnostics(page) },
    { id: 'shortcuts', label: 'Keyboard shortcuts', run: () => dialogs.show({ kind: 'shortcuts' }) },
  )
  actions.push(
    state?.pausedUntil === undefined
      ? {
          id: 'pause',
          label: 'Pause polling for an hour',
          run: () =>
            guardsSet(Object.values(state?.accounts ?? {})).length > 0
              ? dialogs.show({ kind: 'pause' })
              : page.attempt(berth.pausePolling({ minutes: 60 })),
        }
      : {
          id: 'resume',
          label: 'Resume polling',
          run: () => page.attempt(berth.resumePolling({})),
        },
  )
  const last = page.account?.lastRental
  if (last)
    actions.push({
      id: 'rent-again',
      label: `Rent ${last.what} again…`,
      run: () => dialogs.show({ kind: 'rentAgain', rental: last.id }),
    })
  for (const { id, name } of Object.values(state?.projects ?? {}))
    actions.push({
      id: `run-${id}`,
      label: `Run ${name}…`,
      run: () => dialogs.show({ kind: 'runProject', project: id }),
    })
  actions.push(...dueActions(page))
  if (state?.update)
    actions.push({
      id: 'update',
      label: 'Check for updates',
      run: () => page.attempt(berth.checkForUpdate({})),
    })
  for (const theme of ['system', 'light', 'dark'] as const)
    actions.push({
      id: `theme-${theme}`,
      label: theme === 'system' ? 'Theme: as the system' : `Theme: ${theme}`,
      run: () => page.attempt(berth.changeSettings({ settings: { theme } })),
    })
  for (const account of Object.values(state?.accounts ?? {}))
    if (account.id !== state?.shown)
      actions.push({
        id: `account-${account.id}`,
        label: `Show account ${account.name}`,
        run: () => page.attempt(berth.showAccount({ account: account.id })),
      })
  return actions
}
