import { endingWords } from '../automation/ending.ts'
import { isCharged } from '../derived.ts'
import { costOf } from '../spending/spend-words.ts'
import type { AccountView } from '../state.ts'
import { type InstanceState, type InstanceView, startFailure } from './instance.ts'
import { outbidWords } from './outbid-words.ts'

/** A notable state as the end of a sentence about the instance: `was outbid`. */
const news: Partial<Record<InstanceState, string>> = {
  running: 'is ready',
  outbid: 'was outbid',
  frozen: 'is frozen',
  waiting: 'is waiting for a GPU',
  ended: 'exited',
  unstartable: 'can’t start',
  crashed: 'crashed',
  silent: 'is silent',
  offline: 'is offline',
}

/** The end of a sentence that begins with the instance's name; undefined for a state that is no news. */
export function stateNews(state: InstanceState): string | undefined {
  return news[state]
}

/** The trouble of an instance's present state in a sentence or two, without advice; undefined where it has none. */
export function troubleWords(instance: InstanceView): string | undefined {
  switch (instance.state) {
    case 'outbid':
      return outbidWords(instance)
    case 'frozen':
      return 'Its GPUs are billed, but nothing runs.'
    case 'waiting':
      return 'Its GPU is probably rented to someone else. It starts, and is billed, once the GPU is free.'
    case 'exited':
      return `Its container exited and may restart.${saidBy(instance)}`
    case 'ended':
      return `It was stopped or crashed. The service doesn’t say which.${saidBy(instance)}`
    case 'unstartable': {
      const why =
        startFailure(instance.statusMessage) === 'image' ? noImageMessage : 'Its container can’t be started.'
      return `${why}${saidBy(instance)}`
    }
    case 'crashed':
      return crashWords(instance)
    case 'offline':
      return 'Its host is disconnected and may come back.'
    case 'silent':
      return 'Its host doesn’t answer and may come back.'
    default:
      return undefined
  }
}

/** Another machine would not help. */
export const noImageMessage = 'The image can’t be pulled: it doesn’t exist or needs a login.'

/** An instance's fate after its contract, as a clause. */
export const afterContract = 'it can’t start again, and its data may be deleted 48 hours later'

/** One at rest that cannot start without credit. */
export const creditUsedUp =
  'You’re out of credit: it can’t start, its disk is still billed, and it may be deleted.'

/** The cost of an instance that cannot run. */
export function costUntilDestroyed(instance: InstanceView): string {
  if (!isCharged(instance)) return 'You’re not paying for it now.'
  return `It costs ${costOf([instance])} until you destroy it.`
}

/** `Out of memory: the container was killed (exit code 137).`; the service's own words where they have no exit code. */
function crashWords(instance: InstanceView): string {
  const code = /exit(?:ed)?\b.{0,20}?\b(\d{1,3})\b/i.exec(instance.statusMessage ?? '')?.[1]
  if (code === undefined) return `The container crashed.${saidBy(instance)}`
  const isFull = code === '137' && /\boom|out of memory/i.test(instance.statusMessage ?? '')
  const why = isFull ? 'Out of memory: the container was killed' : exitCauses[Number(code)]
  return why ? `${why} (exit code ${code}).` : `The container crashed with exit code ${code}.`
}

/** The usual cause behind an exit code of a container: 128 and more are signals, 125 to 127 are the shell's and Docker's. */
const exitCauses: Readonly<Record<number, string>> = {
  125: 'The container couldn’t be started',
  126: 'Its start command can’t be executed',
  127: 'Its start command wasn’t found',
  134: 'Its program aborted',
  137: 'The container was killed, often because memory was full',
  139: 'Its program crashed: a memory access failed',
  143: 'The container was told to end',
}

function saidBy({ statusMessage }: InstanceView): string {
  return statusMessage ? ` The service says: ${statusMessage.replace(/\.$/, '')}.` : ''
}

const words: Record<InstanceState, string> = {
  provisioning: 'Starting',
  loading: 'Loading',
  running: 'Running',
  restarting: 'Restarting',
  frozen: 'Frozen',
  stopping: 'Stopping',
  stopped: 'Stopped',
  waiting: 'Waiting',
  outbid: 'Outbid',
  exited: 'Exited',
  ended: 'Exited',
  crashed: 'Crashed',
  unstartable: 'Can’t start',
  silent: 'Silent',
  offline: 'Offline',
  destroying: 'Destroying',
  other: 'Unknown',
}

/** Its state on screen; a stop or destroy that no fresh reading shows yet comes first. */
export function instanceStateWord(
  { endings }: Pick<AccountView, 'endings'>,
  { id, state, actualStatus }: InstanceView,
): string {
  const ending = endings[id]
  return ending ? endingWords(ending) : stateWord(state, actualStatus)
}

/** An instance's state in a word or two; for a state that Berth does not know, the service's own word. */
export function stateWord(state: InstanceState, actualStatus: string | null): string {
  if (state !== 'other' || !actualStatus) return words[state]
  return actualStatus.charAt(0).toUpperCase() + actualStatus.slice(1, 24)
}
