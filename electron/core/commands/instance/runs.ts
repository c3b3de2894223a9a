import type { RunRequest } from '#contract/automation/run.ts'
import type { runCommands as declared } from '#contract/commands/instance/runs.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { outputStream, pageOf, searchOutput } from '#core/runs/reading.ts'
import type { NewRun } from '#core/runs/service.ts'
import { plainLine } from '#ssh/monitor/plain-lines.ts'
import { noteUser, type Parts, targetOf } from '../parts.ts'

type RunCommands = HandlersOf<typeof declared>

export function runHandlers(parts: Parts): RunCommands {
  const of = (account: string | undefined) => parts.accounts.session(account).automations.runs

  return {
    async startRun({ account, request }) {
      const { instance, rental, ...asked } = request
      const newRun = newRunOf(parts, asked)
      if (instance !== undefined) {
        const target = targetOf(parts, { account, instance })
        noteUser(parts, target.account, `Asked to run “${newRun.name}” on`, target.instance)
      } else if (rental !== undefined) parts.accounts.session(account).rentals.get(rental)
      const place = { instance, rental }
      return of(account).start({ ...newRun, ...place })
    },
    cancelRun: ({ account, run }) => of(account).cancel(run),
    fetchRun: ({ account, run }) => of(account).fetch(run),
    endRun: ({ account, run }) => of(account).end(run),
    changeRun: ({ account, run, afterwards }) => of(account).change(run, afterwards),
    async retryRun({ account, run, into }) {
      return of(account).retry(run, into === undefined ? undefined : parts.folders.get(into).path)
    },
    giveUpFetch: ({ account, run }) => of(account).giveUpFetch(run),
    dismissRun: ({ account, run }) => of(account).dismiss(run),
    async followRun({ account, run, of: program }, { streams }) {
      if (!streams) throw new BerthError({ code: 'no_page', message: 'A page follows runs, nothing else.' })
      const output = await of(account).output(run, program)
      const { from } = await pageOf(output, { before: output.next() })
      return { stream: streams.open(outputStream(output, from)), from }
    },
    readRun: async ({ account, run, of: program, place }) =>
      pageOf(await of(account).output(run, program), place),
    searchRun: async ({ account, run, of: program, text, before }) =>
      searchOutput(await of(account).output(run, program), text, before),
    downloadsFolder: async () => parts.machine.downloads.own,
  }
}

/** The stored form of a request. The download folder is fixed now, as the user was told. */
export function newRunOf({ folders, machine }: Parts, { into, name, ...request }: RunRequest): NewRun {
  const folder = into === undefined ? machine.downloads.own : folders.get(into).path
  return {
    ...request,
    name: name || titleOf(request.command),
    into: request.fetch === undefined ? undefined : folder,
  }
}

/** The first line of a command that is neither empty nor `#!`, cut to 60 characters. */
function titleOf(command: string): string {
  const line = command.split('\n').find(one => one.trim() !== '' && !one.startsWith('#!')) ?? 'Run'
  const plain = plainLine(line.trim())
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain
}
