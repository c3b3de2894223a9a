import { duration, isoDay } from '#shared/format/time.ts'
import { accountNow, creditBy, creditLasts, spendOnceReady } from '../shared/derived.ts'
import { money } from '../shared/format/money.ts'
import { firstDaySince } from '../shared/spending/before-counting.ts'
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

/** The first day of each sum. */
function firstDays(now: number) {
  const date = new Date(now * 1000)
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  return {
    today: new Date(year, month, day),
    last7Days: new Date(year, month, day - 6),
    thisMonth: new Date(year, month),
  }
}

function sums({ days, now }: SpendAnswer) {
  const since = (first: Date) =>
    days.reduce((sum, each) => sum + (each.day >= isoDay(first) ? each.spent : 0), 0)
  const { today, last7Days, thisMonth } = firstDays(now)
  return { today: since(today), last7Days: since(last7Days), thisMonth: since(thisMonth) }
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
  const { account, days, now } = answer
  const credit = creditBy(account, now)
  const lasts = creditLasts(account, spendOnceReady(account))
  const [spent, first] = [sums(answer), firstDays(now)]
  const sumOf = (span: keyof typeof spent) => {
    const since = firstDaySince(days, { instances: account.instances, now }, first[span].getTime() / 1000)
    return `${money(spent[span])}${since ? ` since ${since}` : ''}`
  }
  return table(
    [account.name, '>'],
    [
      ['Credit', credit === undefined ? 'unknown' : money(credit)],
      ['Per hour', spendWords(account)],
      ...(lasts === undefined ? [] : [['Credit lasts', duration(lasts)]]),
      ['Today', sumOf('today')],
      ['Last 7 days', sumOf('last7Days')],
      ['This month', sumOf('thisMonth')],
    ],
  )
}
