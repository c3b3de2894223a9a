import { isYetToEnd, type RunView } from '../shared/automation/run.ts'
import { instanceName } from '../shared/format/name.ts'
import type { AccountView, State } from '../shared/state.ts'
import {
  accountsOf,
  type Call,
  type CliCommand,
  type FoundInstance,
  findInstance,
  polledState,
  print,
} from './call.ts'
import { CliFailure, exitCodes } from './failure.ts'

export const logs: CliCommand = {
  operands: 'RUN|INSTANCE',
  takes: [1, 1],
  summary: 'Print the output of a run, or of an instance’s newest run or start script',
  options: ['account', 'json', 'follow'],
  async run(call) {
    const [word = ''] = call.operands
    const state = await polledState(call)
    const target = findTarget(call, state, word)
    if ('run' in target) await printRun(call, target.account.id, target.run)
    else if (call.follow) await followStartScript(call, target)
    else await printContainerLog(call, target)
    return undefined
  },
}

type Target = { account: AccountView; run: RunView } | FoundInstance

/** A run by its id, or an instance's newest run; the instance itself where it has none. */
function findTarget(call: Call, state: State, word: string): Target {
  if (/^x[0-9a-f]{16}$/.test(word)) {
    for (const account of accountsOf(call, state)) {
      const run = account.runs[word]
      if (run) return { account, run }
    }
    throw new CliFailure(exitCodes.unknown, { code: 'no_such_run', message: `No run has the id ${word}.` })
  }
  const found = findInstance(call, state, word)
  const runs = Object.values(found.account.runs).filter(({ instance }) => instance === found.instance.id)
  const run = runs.toSorted((a, b) => a.createdAt - b.createdAt).at(-1)
  return run ? { account: found.account, run } : found
}

/** Prints the stored output and, with `--follow`, new output until the run has ended. */
async function printRun(call: Call, account: string, { id: run, droppedBytes }: RunView): Promise<void> {
  const { connection, follow, json } = call
  if (droppedBytes > 0) call.say(`The first ${droppedBytes} bytes are no longer stored.`)
  let output = ''
  const collects = json && !follow
  const collect = (text: string) => {
    output += text
  }
  const written = writer(call)
  const printMore = outputPrinter(call, account, run, collects ? collect : written.write)
  for (;;) {
    // Read before the output, so that a run that has ended is printed to its end.
    const view = (await connection.state()).accounts[account]?.runs[run]
    await printMore()
    if (!follow || !view || !isYetToEnd(view)) {
      written.end()
      if (collects) print(call, { run, step: view?.step ?? null, exitCode: view?.code ?? null, output })
      return
    }
    await connection.change()
  }
}

/** Gives a function that writes the run's output since its last call. */
export function outputPrinter(
  { connection }: Call,
  account: string,
  run: string,
  write: (text: string) => void,
): () => Promise<void> {
  let at = 0
  return async () => {
    for (;;) {
      const page = await connection.command('readRun', { account, run, place: { from: at } })
      write(page.text)
      at = page.to
      if (page.to >= page.end || page.to === page.from) return
    }
  }
}

async function followStartScript(call: Call, { account, instance }: FoundInstance): Promise<void> {
  const on = { account: account.id, instance: instance.id }
  const { stream, looked } = await call.connection.command('followLog', on)
  if (stream === undefined)
    throw new CliFailure(exitCodes.unknown, {
      code: 'no_log',
      message: `${instanceName(instance)} has no run, and no log of its start script: ${looked.join(', ')}.`,
    })
  const decoder = new TextDecoder()
  const { write, end } = writer(call)
  await call.connection.read(stream, bytes => write(decoder.decode(bytes, { stream: true })))
  end()
}

async function printContainerLog(call: Call, { account, instance }: FoundInstance): Promise<void> {
  const on = { account: account.id, instance: instance.id }
  const { lines } = await call.connection.command('readContainerLog', on)
  const output = lines.map(line => `${line}\n`).join('')
  if (call.json) print(call, { instance: instance.id, output })
  else call.write(output)
}

/**
 * Berth has removed all escapes but those of progress bars; `\v` means one line up. In JSON each line is an object, with its
 * line break; the last may have none, and `end` writes it.
 */
export function writer({ json, write }: Call): { write(text: string): void; end(): void } {
  const up = process.stdout.isTTY ? '\u001b[A' : ''
  let begun = ''
  const writeLine = (line: string) => write(`${JSON.stringify({ output: line })}\n`)
  return {
    write(text) {
      if (!json) {
        if (text !== '') write(text.replaceAll('\v', up))
        return
      }
      const lines = text.split('\n')
      const rest = lines.pop() ?? ''
      for (const line of lines) {
        writeLine(`${begun}${line}\n`)
        begun = ''
      }
      begun += rest
    },
    end() {
      if (begun !== '') writeLine(begun)
      begun = ''
    },
  }
}
