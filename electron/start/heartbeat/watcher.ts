import { spawn } from 'node:child_process'
import { appendFileSync, openSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import { freezesAfter, freezesVariable, Silence } from './freeze.ts'
import { mostSilence, slots, tickEvery, type Watched } from './watched.ts'

/**
 * A thread of its own, which starts Berth anew where the main thread stands still. It can ask nothing of that thread,
 * which holds Electron and may hold a lock: so it starts the program and kills the process.
 */
const { beats, before, log, output, program, args } = workerData as Watched
const silence = new Silence(tickEvery)
let isTold = false

setInterval(() => {
  const seconds = silence.tick(Atomics.load(beats, slots.count), performance.now())
  if (seconds < mostSilence) isTold = false
  else if (Atomics.load(beats, slots.debugged) === 0) act(seconds)
}, tickEvery)

function act(seconds: number): void {
  // The main thread reads it where it goes on after all.
  Atomics.store(beats, slots.silence, seconds)
  const freezes = freezesAfter(before, Date.now(), seconds)
  if (freezes !== undefined && startAnew(freezes)) {
    note(`Berth stood still for ${seconds} s and starts anew`)
    process.kill(process.pid, 'SIGKILL')
  }
  if (!isTold) note(`Berth has stood still for ${seconds} s, and can’t or may not start anew`)
  isTold = true
}

/** Whether the program could be started. It waits for this process's end. */
function startAnew(freezes: string): boolean {
  const file = opened()
  const child = spawn(program, args, {
    detached: true,
    env: { ...process.env, [freezesVariable]: freezes },
    stdio: ['ignore', file, file],
    windowsHide: true,
  })
  child.once('error', () => undefined)
  return child.pid !== undefined
}

function opened(): number | 'ignore' {
  try {
    return openSync(output, 'w', 0o600)
  } catch {
    return 'ignore'
  }
}

function note(line: string): void {
  try {
    appendFileSync(log, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 })
  } catch {
    // A full disk: the next Berth tells it from its environment.
  }
}
