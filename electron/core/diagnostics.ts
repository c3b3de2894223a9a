import type { Log } from '#platform/platform.ts'
import type { AccountView, State } from '#shared/state.ts'

/** The numbers of newest errors and log lines that are included. */
const errorsShown = 20
const linesShown = 60

/**
 * A text for Berth's maintainers. It names no account, address, instance or folder of the user's, and all of it passes
 * through the log's mask. `now` in epoch milliseconds.
 */
export function diagnostics(state: State, log: Log, home: string, now: number): string {
  const { app, settings } = state
  const { command, ...terminal } = settings.terminal
  const parts = {
    Berth: [
      `${app.version}, ${app.shell === 'electron' ? 'as a desktop app' : 'in a browser'}, on ${app.platform}`,
      ...(app.runtime === undefined ? [] : [app.runtime]),
      new Date(now).toISOString(),
      `Keychain: ${app.keychainProblem ?? 'keeps secrets'}`,
      `Notifications: ${app.notifications ? 'yes' : 'none on this desktop'}; tray: ${
        app.tray === undefined ? 'not in a browser' : app.tray ? 'yes' : 'none'
      }`,
      `Updates: ${state.update?.status ?? 'off, no address is set'}`,
    ],
    Accounts: Object.values(state.accounts).map(accountLine),
    Settings: [
      JSON.stringify(
        { ...settings, terminal: { ...terminal, ownCommand: command.length > 0 } },
        undefined,
        2,
      ),
    ],
    'Recent errors': Object.values(state.activity)
      .filter(({ kind }) => kind === 'error')
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, errorsShown)
      .map(({ at, text, detail }) => {
        // The text after the colon names the object, such as an instance.
        const what = withoutLabels(text.split(': ')[0] ?? '', 'an instance')
        return `${new Date(at).toISOString()} ${what}${detail ? `: ${withoutLabels(detail, ' an instance')}` : ''}`
      }),
    Log: log.recent().slice(-linesShown),
  }
  const text = Object.entries(parts)
    .map(([title, lines]) => `${title}\n${lines.length === 0 ? 'none' : lines.join('\n')}`)
    .join('\n\n')
  return `${log.mask(withoutNames(text, state, home))}\n`
}

function accountLine(account: AccountView): string {
  const { connection, instances, rentals, limitation } = account
  const problem = 'problem' in connection ? ` (${connection.problem.code})` : ''
  const counts = new Map<string, number>()
  for (const { state } of Object.values(instances)) counts.set(state, (counts.get(state) ?? 0) + 1)
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
  return [
    account.demo ? 'The demo' : 'An account',
    `${connection.status}${problem}`,
    `instances: ${states || 'none'}`,
    `rentals under way: ${Object.keys(rentals).length}`,
    ...(limitation === undefined ? [] : [limitation]),
  ].join('; ')
}

/** Replaces instance names as Activity writes them (`llama #4711`), back to the last colon, quotation mark or dash. */
function withoutLabels(text: string, instead: string): string {
  return text
    .split(/([:“”–])/)
    .map(part => {
      const last = [...part.matchAll(/#\d+/g)].at(-1)
      return last ? instead + part.slice(last.index + last[0].length) : part
    })
    .join('')
}

/** Replaces names, addresses and the home folder, which are private. */
function withoutNames(text: string, state: State, home: string): string {
  const accounts = Object.values(state.accounts).filter(({ demo }) => !demo)
  const names = accounts.flatMap(account => [
    [account.baseUrl, '(address)'],
    [URL.canParse(account.baseUrl) ? new URL(account.baseUrl).host : '', '(address)'],
    [account.email ?? '', '(email)'],
    [account.name, '(account)'],
  ])
  return [...names, [home, '~']].reduce(
    (rest, [name = '', instead = '']) => (name.length < 3 ? rest : rest.replaceAll(name, instead)),
    text,
  )
}
