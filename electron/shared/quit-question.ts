import { isCharged } from './derived.ts'
import { counted } from './format/size.ts'
import { isFileTransferOver } from './instance/files.ts'
import { instanceLine, word } from './instance/short-lines.ts'
import { isRenting, rentedName } from './market/rental-view.ts'
import { costOf, volumesWords } from './spending/spend-words.ts'
import type { State } from './state.ts'

/** The question before quitting. */
export interface QuitQuestion {
  message: string
  detail: string
}

/** The most instances to name. */
const most = 6

/** What a demo loses, a sentence; undefined without one. */
export function demoEnds({ accounts }: Pick<State, 'accounts'>): string | undefined {
  const demos = Object.values(accounts).filter(({ demo }) => demo)
  if (demos.length === 0) return undefined
  const instances = demos.flatMap(account => Object.values(account.instances)).length
  const holds = instances === 1 ? 'it holds' : 'they hold'
  const lost = instances === 0 ? '' : `, with its ${counted(instances, 'instance')} and all that ${holds}`
  return `The demo ends${lost}, and begins anew next time. None of it costs money.`
}

/** Lists continuing costs and interrupted or lost work; undefined without any. In the demo only unsaved text counts. */
export function quitQuestion(state: State): QuitQuestion | undefined {
  const accounts = Object.values(state.accounts).filter(({ demo }) => !demo)
  const costing = accounts
    .flatMap(account => Object.values(account.instances).map(instance => ({ account, instance })))
    .filter(({ instance }) => isCharged(instance))
    .toSorted((a, b) => b.instance.costPerHour - a.instance.costPerHour)
  const renting = accounts.flatMap(({ rentals }) => Object.values(rentals)).filter(isRenting)
  const files = accounts
    .flatMap(({ fileTransfers }) => Object.values(fileTransfers))
    .filter(one => !isFileTransferOver(one))
  const { unsaved = false } = state.app
  const isUnderWay = renting.length + files.length > 0
  if (costing.length === 0 && !isUnderWay && !unsaved) return undefined

  const more = costing.length - most
  const lines = [
    ...costing.slice(0, most).map(({ account, instance }) => instanceLine(account, instance)),
    ...(more > 0 ? [`${more} more`] : []),
    ...accounts.flatMap(({ volumes }) => (volumes ? `And ${volumesWords(volumes)}` : [])),
    ...renting.map(rental => `Renting ${word(rentedName(rental))}: nothing checks whether it starts`),
    ...(unsaved ? ['Unsaved changes in a window are lost'] : []),
    ...(files.length > 0 ? [`${counted(files.length, 'file transfer')} cut off`] : []),
  ]
  return {
    message:
      costing.length > 0
        ? `${counted(costing.length, 'instance')} ${costing.length === 1 ? 'keeps' : 'keep'} costing ${costOf(
            costing.map(({ instance }) => instance),
          )}`
        : isUnderWay
          ? 'Something is still in progress'
          : 'Changes are not saved',
    detail: `${lines.join('\n')}\n\nWhile Berth isn’t running, nothing is monitored and you get no alerts.`,
  }
}
