import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import type { Action } from '#renderer/components/menu/menu.ts'
import { whatIsDue } from '#renderer/features/instances/whatIsDue.ts'
import { snoozeOptions } from '#renderer/features/limits/limitWords.ts'
import { addressOfPart, screenParts, screens } from '#renderer/features/screens.ts'
import { limitsSet } from '#shared/automation/limit.ts'
import { hasAgents } from '#shared/spending/spender.ts'

/** An action on every screen; `words`: others that people type for it. */
export interface PageAction extends Action {
  words?: string
}

/** The actions that are offered on every screen. */
export function pageActions(page: Page): PageAction[] {
  const { berth, state } = page
  const last = page.account?.pastRentals?.[0]
  return [
    ...screens.map(screen => ({
      id: `go-${screen.id}`,
      label: `Go to ${screen.label}`,
      ...(screen.id !== 'account' && { accelerator: screen.id }),
      run: () => route.go(screen.id),
    })),
    { id: 'rent', label: 'Rent a GPU', words: 'new volume cheapest offers', run: () => route.go('offers') },
    { id: 'rent-with-retries', label: 'Rent, retry if it fails…', run: () => route.go('offers/retries') },
    { id: 'watch', label: 'Watch a search…', run: () => route.go('offers/watch') },
    { id: 'watches', label: 'Watches', run: () => route.go('offers/watches') },
    { id: 'refresh', label: 'Refresh', run: () => page.attempt(berth.refresh({})) },
    { id: 'connect', label: 'Connect an account…', run: () => dialogs.show({ kind: 'connect' }) },
    {
      id: 'stop-all',
      label: 'Stop everything…',
      words: 'stop all instances',
      run: () => dialogs.show({ kind: 'stopAll' }),
    },
    {
      id: 'idle',
      label: 'Idle instances',
      words: 'show unused',
      run: () => route.go('instances/idle'),
    },
    ...stopAgents(page),
    { id: 'new-template', label: 'Create a template…', run: () => route.go('templates/new') },
    { id: 'new-key', label: 'Create an API key…', run: () => route.go('account/keys/new') },
    { id: 'add-method', label: 'Add a two-factor method…', run: () => route.go('account/two-factor/new') },
    { id: 'new-webhook', label: 'Create a webhook…', run: () => route.go('account/webhooks/new') },
    { id: 'login', label: 'Log in with two factors…', run: () => dialogs.show({ kind: 'login' }) },
    { id: 'new-copy', label: 'Copy data between instances…', run: () => route.go('transfers/copy') },
    { id: 'new-sync', label: 'Cloud sync…', run: () => route.go('transfers/sync') },
    ...ofAccount(page),
    {
      id: 'report',
      label: 'Report a bug…',
      words: 'diagnostics problem feedback help support issue',
      run: () => dialogs.show({ kind: 'report' }),
    },
    {
      id: 'shortcuts',
      label: 'Keyboard shortcuts',
      words: 'help keys hotkeys',
      run: () => dialogs.show({ kind: 'shortcuts' }),
    },
    {
      id: 'quit',
      label: 'Quit Berth…',
      words: 'exit close',
      // The desktop app asks in a dialog of its own.
      run: () =>
        state?.app.shell === 'electron' ? page.attempt(berth.quit({})) : dialogs.show({ kind: 'quit' }),
    },
    pauseOrResume(page),
    ...(last
      ? [
          {
            id: 'rent-again',
            label: `Rent ${last.what} again…`,
            run: () => dialogs.show({ kind: 'rentAgain', rental: last.id }),
          },
        ]
      : []),
    ...Object.values(state?.projects ?? {}).map(({ id, name }) => ({
      id: `run-${id}`,
      label: `Run ${name}…`,
      words: 'start project sweep cluster',
      run: () => dialogs.show({ kind: 'runProject', project: id }),
    })),
    ...Object.values(state?.projects ?? {}).map(({ id, name }) => ({
      id: `project-${id}`,
      label: `Project ${name}`,
      words: 'open runs results',
      run: () => route.go(`projects/${id}`),
    })),
    ...dueActions(page),
    ...volumeActions(page),
    ...screenParts.map(part => ({
      id: `part-${addressOfPart(part)}`,
      label: `${part.screen === 'settings' ? 'Settings' : 'Account'}: ${part.title}`,
      ...(part.words && { words: part.words }),
      run: () => route.go(addressOfPart(part)),
    })),
    ...(state?.update
      ? [{ id: 'update', label: 'Check for updates', run: () => page.attempt(berth.checkForUpdate({})) }]
      : []),
    ...(['system', 'light', 'dark'] as const).map(theme => ({
      id: `theme-${theme}`,
      label: theme === 'system' ? 'Theme: as the system' : `Theme: ${theme}`,
      run: () => page.attempt(berth.changeSettings({ settings: { theme } })),
    })),
    ...Object.values(state?.accounts ?? {})
      .filter(({ id }) => id !== state?.shown)
      .map(({ id, name }) => ({
        id: `account-${id}`,
        label: `Show account ${name}`,
        run: () => page.attempt(berth.showAccount({ account: id })),
      })),
  ]
}

/** Its key, and the service's own page, where credit is added: its interface has no call for that. */
function ofAccount({ account, attempt, berth }: Page): PageAction[] {
  if (!account || account.demo) return []
  return [
    {
      id: 'replace-key',
      label: 'Replace API key…',
      words: 'revoked refused',
      run: () => dialogs.show({ kind: 'replaceKey', account: account.id }),
    },
    {
      id: 'add-credit',
      label: `Add credit on ${new URL(account.baseUrl).host}`,
      words: 'top up pay money billing balance',
      run: () => attempt(berth.openLink({ url: account.baseUrl })),
    },
  ]
}

/** Asks first where there are limits, which do not act during a pause. */
function pauseOrResume(page: Page): Action {
  const { berth, state } = page
  if (state?.pausedUntil !== undefined)
    return { id: 'resume', label: 'Resume Berth', run: () => page.attempt(berth.resumePolling({})) }
  return {
    id: 'pause',
    label: 'Pause Berth for 1 h',
    run: () =>
      limitsSet(Object.values(state?.accounts ?? {})).length > 0
        ? dialogs.show({ kind: 'pause' })
        : page.attempt(berth.pausePolling({ minutes: 60 })),
  }
}

/** Entries for the automatic actions that come next: to open the limit behind each, or to extend it. */
function dueActions(page: Page): Action[] {
  const { berth, state } = page
  return whatIsDue(Object.values(state?.accounts ?? {}), Date.now()).flatMap(
    ({ account, limit, label, whose }) => [
      {
        id: `due-${limit.id}`,
        label,
        async run() {
          if (account !== state?.shown) await page.attempt(berth.showAccount({ account }))
          route.go(limit.instance === undefined ? 'account/limits' : `instances/${limit.instance}/automation`)
        },
      },
      ...snoozeOptions.map(({ minutes, label: span }) => ({
        id: `snooze-${limit.id}-${minutes}`,
        label: `Extend ${span}: ${limit.sentence}${whose}`,
        run: () => page.attempt(berth.snoozeLimit({ account, limit: limit.id, minutes })),
      })),
    ],
  )
}

/** Where an agent has machines on the shown account. */
function stopAgents(page: Page): PageAction[] {
  if (!hasAgents(page.account)) return []
  const run = () => page.attempt(page.berth.stopAgents({}))
  return [{ id: 'stop-agents', label: 'Stop all that agents rented', words: 'mcp ai bot', run }]
}

function volumeActions(page: Page): PageAction[] {
  return (page.account?.volumes?.names ?? []).flatMap(({ id, name, machine }) => [
    { id: `volume-${id}`, label: `Volume ${name}`, words: 'storage', run: () => route.go('account/volumes') },
    ...(machine === undefined
      ? []
      : [
          {
            id: `rent-volume-${id}`,
            label: `Rent with volume ${name}…`,
            run: () => dialogs.show({ kind: 'rentWith', volume: { id, name, machine } }),
          },
        ]),
  ])
}
