import { BerthError } from '../../../contract/problem.ts'
import { plainLine } from '../../../ssh/inside/plain-lines.ts'
import type { Handlers } from '../../page/dispatcher.ts'
import { outputStream } from '../../runs/output-stream.ts'
import { doorOf, noteUser, type Parts } from '../parts.ts'

type RunCommands = Pick<
  Handlers,
  | 'startRun'
  | 'endRun'
  | 'changeRun'
  | 'retryRun'
  | 'dismissRun'
  | 'followRun'
  | 'searchRun'
  | 'downloadsFolder'
>

const mostMatches = 500

export function runCommands(parts: Parts): RunCommands {
  const of = (account: string | undefined) => parts.accounts.session(account).automations.runs

  return {
    async startRun({ account, request }) {
      const { into, name, instance, rental, ...wish } = request
      const title = name || titleOf(request.command)
      if (instance !== undefined) {
        const door = doorOf(parts, { account, instance })
        noteUser(parts, door.account, `Asked to run “${title}” on`, door.instance)
      } else if (rental !== undefined) parts.accounts.session(account).rentals.rented(rental)
      const folder = into === undefined ? undefined : parts.folders.get(into).path
      return of(account).start({
        ...wish,
        name: title,
        ...(instance === undefined ? {} : { instance }),
        ...(rental === undefined ? {} : { rental }),
        // Where it goes is settled now: the user was told.
        ...(request.fetch === undefined ? {} : { into: folder ?? parts.machine.downloads.own }),
      })
    },
    endRun: ({ account, run }) => of(account).end(run),
    changeRun: ({ account, run, atEnd }) => of(account).change(run, atEnd),
    retryRun: ({ account, run }) => of(account).retry(run),
    dismissRun: ({ account, run }) => of(account).dismiss(run),
    async followRun({ account, run }, { streams }) {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'A page follows runs, nothing else.' })
      return { stream: streams.open(outputStream(await of(account).output(run))) }
    },
    async searchRun({ account, run, text }) {
      const wanted = text.toLowerCase()
      const lines = (await of(account).output(run)).text().split('\n').map(plainLine)
      const found = lines.flatMap((line, at) =>
        line.toLowerCase().includes(wanted) ? [{ line: at + 1, text: line }] : [],
      )
      return { matches: found.slice(-mostMatches), more: found.length > mostMatches }
    },
    downloadsFolder: async () => parts.machine.downloads.own,
  }
}

/** The first line of a command that says something. */
function titleOf(command: string): string {
  const line = command.split('\n').find(one => one.trim() !== '' && !one.startsWith('#!')) ?? 'Run'
  return plainLine(line.trim()).slice(0, 60)
}
