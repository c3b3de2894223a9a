import { duration, isoDay } from '#shared/format/time.ts'
import { accountNow, creditBy, creditLasts, spendOnceReady } from '../shared/derived.ts'
import { money } from '../shared/format/money.ts'
import type { MoneyDay } from '../shared/spending/history.ts'
import { spendWords } from '../shared/spending/spend-words.ts'
import type { AccountView } from '../shared/state.ts'
import {
  accountsOf,
  type CliCommand,
  cliDollars,
  polledState,
  print,
  sayNoAccount,
  sayWhatIsOld,
  table,
} from './call.ts'
import { accountJson } from './ps.ts'

/** Days to ask for: enough for the present month. */
const mostDays = 31

export const spend: CliCommand = {
  operands: '',
  takes: [0, 0],
  summary: 'Print your spending and how long your credit lasts',
  options: ['account', 'json'],
  async run(call) {
    const state = await polledState(call)
    const accounts = accountsOf(call, state)
    const answer = []
    for (const account of accounts) {
      const now = accountNow(account.clock, Date.now())
      const { days } = await call.connection.command('moneyHistory', {
        account: account.id,
        from: now,
        samples: 1,
        days: mostDays,
      })
      answer.push({ account, days, now })
    }
    if (call.json) print(call, { accounts: answer.map(asJson) })
    else call.write(answer.map(asText).join('\n'))
    return accounts.length === 0 ? sayNoAccount(call, state) : sayWhatIsOld(call, accounts)
  },
}

interface SpendAnswer {
  account: AccountView
  days: readonly MoneyDay[]
  /** Epoch seconds of the account's time. */
  now: number
}

function sums({ days, now }: SpendAnswer) {
  const day = (back: number) => isoDay(new Date(now * 1000 - back * 86_400_000))
  const since = (first: string) => days.reduce((sum, each) => sum + (each.day >= first ? each.spent : 0), 0)
  return { today: since(day(0)), last7Days: since(day(6)), thisMonth: since(`${day(0).slice(0, 8)}01`) }
}

/** Scripts rely on these fields: they are added, never renamed. In dollars. */
function asJson(answer: SpendAnswer) {
  const { account, days } = answer
  const lasts = creditLasts(account, spendOnceReady(account))
  const { today, last7Days, thisMonth } = sums(answer)
  return {
    ...accountJson(account),
    creditLastsHours: lasts === undefined ? null : lasts / 3600,
    today: cliDollars(today),
    last7Days: cliDollars(last7Days),
    thisMonth: cliDollars(thisMonth),
    days: days.map(({ day, spent, toppedUp, estimated }) => ({
      day,
      spent: cliDollars(spent),
      toppedUp: cliDollars(toppedUp),
      estimated: estimated ?? false,
    })),
  }
}

function asText(answer: SpendAnswer): string {
  const { account, now } = answer
  const credit = creditBy(account, now)
  const lasts = creditLasts(account, spendOnceReady(account))
  const { today, last7Days, thisMonth } = sums(answer)
  return table(
    [account.name, '>'],
    [
      ['Credit', credit === undefined ? 'unknown' : money(credit)],
      ['Per hour', spendWords(account)],
      ...(lasts === undefined ? [] : [['Credit lasts', duration(lasts)]]),
      ['Today', money(today)],
      ['Last 7 days', money(last7Days)],
      ['This month', money(thisMonth)],
    ],
  )
}
