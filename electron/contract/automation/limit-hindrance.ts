import { counted } from '../format/size.ts'
import type { AccountView, ConnectionState } from '../state.ts'
import { limitsSet } from './limit.ts'

/** Why no limit of an account acts now, to follow `cannot act`; undefined where they act. */
export function limitHindrance({ status }: Pick<ConnectionState, 'status'>): string | undefined {
  switch (status) {
    case 'locked':
      return 'until Berth has the API key again'
    case 'refused':
      return 'until the API key is accepted again'
    case 'offline':
      return 'until the service answers again'
    default:
      return undefined
  }
}

/** `2 limits are set and cannot act until the service answers again.`; undefined without limits or hindrance. */
export function hinderedLimits(limits: number, hindrance: string | undefined): string | undefined {
  if (limits === 0 || hindrance === undefined) return undefined
  return `${counted(limits, 'limit')} ${limits === 1 ? 'is' : 'are'} set and cannot act ${hindrance}.`
}

/** What is said of limits where Berth has ended; undefined where none is set. The demo's end with it. */
export function limitsWithoutBerth(accounts: readonly AccountView[]): string | undefined {
  const real = accounts.filter(({ demo }) => !demo)
  const said = hinderedLimits(limitsSet(real).length, 'while Berth is not running')
  const watchdogs = real.some(({ watchdogs }) =>
    Object.values(watchdogs).some(({ step }) => step === 'watching'),
  )
  return said && watchdogs ? `${said} A watchdog on an instance still can.` : said
}
