import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { BerthError } from '../shared/problem.ts'
import { childEnv } from './programs.ts'

/** Milliseconds for which a folder that has answered needs no further question, and for which an answer is awaited. */
const answerCounts = 10_000
const patience = 5_000

/** A line of a file system that needs a network, or another program. Any folder may be a link into one. */
const networkDisk = / - (?:9p|afs|autofs|ceph|cifs|davfs|fuse|gluster|lustre|nfs|smb)/

interface Asked {
  /** `performance.now()` at the last answer. */
  answeredAt: number
  asking?: Promise<boolean> | undefined
  isAway: boolean
}

/** By path. What is asked about a folder holds for all who use it. */
const asked = new Map<string, Asked>()

/**
 * Gives a function to call before each use of a folder: undefined where it has answered a moment ago, else a promise, which
 * rejects with `folder_silent` if it doesn't answer within five seconds, and at once until it does.
 */
export function answering(path: string): () => Promise<void> | undefined {
  const folder: Asked = asked.get(path) ?? { answeredAt: Number.NEGATIVE_INFINITY, isAway: false }
  asked.set(path, folder)
  return () => {
    if (performance.now() - folder.answeredAt < answerCounts) return undefined
    if (!folder.asking && needNotAsk()) {
      folder.answeredAt = performance.now()
      return undefined
    }
    return answered(path, folder)
  }
}

async function answered(path: string, folder: Asked): Promise<void> {
  if (folder.isAway) throw silent(path)
  folder.asking ??= ask(path, folder)
  if (!(await folder.asking)) throw silent(path)
}

/**
 * Resolves with whether it answered in time. A call to a network disk that is away holds its thread until the disk is back,
 * and Node waits for all its threads before it ends: so another program makes the first one.
 */
function ask(path: string, folder: Asked): Promise<boolean> {
  return new Promise(resolve => {
    const question = spawn('df', ['-P', '--', path], { env: childEnv(process.env), stdio: 'ignore' })
    question.unref()
    const late = setTimeout(() => {
      folder.isAway = true
      resolve(false)
    }, patience)
    // A failure is an answer, too.
    for (const event of ['exit', 'error'])
      question.once(event, () => {
        clearTimeout(late)
        Object.assign(folder, { answeredAt: performance.now(), asking: undefined, isAway: false })
        resolve(true)
      })
  })
}

/** Whether folders can be used without asking: no network disk is mounted, or, as on Windows, such calls fail by themselves. */
function needNotAsk(): boolean {
  if (process.platform !== 'linux') return process.platform === 'win32'
  try {
    return !networkDisk.test(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return false
  }
}

function silent(path: string): BerthError {
  return new BerthError({
    code: 'folder_silent',
    message: `The folder ${path} doesn’t answer: it may be on a network disk that is away.`,
    advice: 'Connect that disk again, or choose another folder.',
  })
}
