import { counted } from '../format/size.ts'
import type { AccountView, ConnectionState } from '../state.ts'
import { guardsSet } from './guard.ts'

/** Why no guard of an account acts now, to follow `cannot act`; undefined where they act. */
export function guardHindrance({ status }: Pick<ConnectionState, 'status'>): string | undefined {
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

/** `2 guards are set and cannot act until the service answers again.`; undefined without guards or hindrance. */
export function hinderedGuards(guards: number, hindrance: string | undefined): string | undefined {
  if (guards === 0 || hindrance === undefined) return undefined
  return `${counted(guards, 'limit')} ${guards === 1 ? 'is' : 'are'} set and cannot act ${hindrance}.`
}

/** What is said of guards where Berth has ended; undefined where none is set. The demo's end with it. */
export function guardsWithoutBerth(accounts: readonly AccountView[]): string | undefined {
  const real = accounts.filter(({ demo }) => !demo)
  const said = hinderedGuards(guardsSet(real).length, 'while Berth is not running')
  const watchdogs = real.some(({ watchdogs }) =>
    Object.values(watchdogs).some(({ step }) => step === 'watching'),
  )
  return said && watchdogs ? `${said} A watchdog on an instance still can.` : said
}
