import { rate } from '../format/money.ts'
import { isCharged } from '../reading.ts'
import { costOf } from '../spending/spend-words.ts'
import { type InstanceState, type InstanceView, startFailure } from './instance.ts'

/** What a state that the user must know about does to an instance, after its name: `was outbid`. */
const news: Partial<Record<InstanceState, string>> = {
  running: 'is ready',
  outbid: 'was outbid',
  frozen: 'is frozen',
  waiting: 'waits for a GPU',
  ended: 'has exited',
  unstartable: 'cannot start',
  crashed: 'has crashed',
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
      return 'Its GPUs are billed although nothing runs.'
    case 'waiting':
      return 'Its GPU is probably rented to somebody else. It starts, and is charged, once the GPU is free.'
    case 'exited':
      return `Its container ended, and may restart.${saidBy(instance)}`
    case 'ended':
      return `It was stopped or has crashed: the service does not say which.${saidBy(instance)}`
    case 'unstartable': {
      const why =
        startFailure(instance.statusMessage) === 'image' ? noImage : 'Its container can’t be started.'
      return `${why}${saidBy(instance)}`
    }
    case 'crashed':
      return `The container crashed.${saidBy(instance)}`
    case 'offline':
      return 'Its host is disconnected, and may come back.'
    case 'silent':
      return 'Its host does not answer, and may come back.'
    default:
      return undefined
  }
}

/** Another machine would not help. */
export const noImage = 'The image cannot be pulled: it does not exist, or needs a login.'

/** What becomes of an instance once its contract is over, as a clause. */
export const afterContract = 'it cannot start again, and its data may be deleted 48 hours after the end'

/** One at rest that cannot start without credit. */
export const creditUsedUp =
  'The credit is used up: it cannot start, its disk is still charged, and it may be deleted.'

/** What an instance that cannot run costs meanwhile. */
export function costUntilDestroyed(instance: InstanceView): string {
  if (!isCharged(instance)) return 'Nothing is charged for it now.'
  return `It costs ${costOf([instance])} until you destroy it.`
}

function outbidWords({ bid, minimumBid }: InstanceView): string {
  const yours = bid === undefined ? 'Someone bids more' : `Yours ${rate(bid)}`
  const higher = bid === undefined ? '' : ', theirs is higher'
  return `${yours}${minimumBid === undefined ? higher : `, theirs ${rate(minimumBid)}`}. Files are kept.`
}

function saidBy({ statusMessage }: InstanceView): string {
  return statusMessage ? ` The service says: ${statusMessage.replace(/\.$/, '')}.` : ''
}
