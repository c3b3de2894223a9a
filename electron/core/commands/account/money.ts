import type { moneyCommands as declared } from '#contract/commands/account/money.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { daysCsv, instancesCsv, modelsCsv, samplesCsv } from '#core/money/csv.ts'
import { neededNames } from '#core/money/spender-names.ts'
import type { Parts } from '../parts.ts'

type MoneyCommands = HandlersOf<typeof declared>

export function moneyHandlers({ accounts }: Parts): MoneyCommands {
  return {
    async moneyHistory({ account, from, samples, days: last }) {
      const { days, names, ...rest } = accounts.session(account).automations.money.history(from, samples)
      const shown = days.slice(-last)
      return { ...rest, days: shown, names: neededNames(names, shown) }
    },
    async spendingTable({ account, rows }) {
      const { days, names, samples } = accounts
        .session(account)
        .automations.money.history(0, Number.MAX_SAFE_INTEGER)
      if (rows === 'days') return daysCsv(days)
      if (rows === 'models') return modelsCsv(days)
      return rows === 'instances' ? instancesCsv(days, names) : samplesCsv(samples)
    },
  }
}
