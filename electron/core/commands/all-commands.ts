import type { transferCommands as declared } from '#contract/commands/account/transfers.ts'
import type { Handlers, HandlersOf } from '../app/page/dispatcher.ts'
import { accountCommands } from './account/accounts.ts'
import { hostingCommands } from './account/hosting.ts'
import { keyCommands } from './account/keys.ts'
import { moneyCommands } from './account/money.ts'
import { notificationCommands } from './account/notifications.ts'
import { sshKeyCommands } from './account/ssh-keys.ts'
import { twoFactorCommands } from './account/two-factor.ts'
import { volumeCommands } from './account/volumes.ts'
import { appCommands } from './app/app.ts'
import { type UpdateParts, updateCommands } from './app/updates.ts'
import { accessCommands } from './instance/access.ts'
import { editorCommands } from './instance/editors.ts'
import { fileCommands } from './instance/files.ts'
import { guardCommands } from './instance/guards.ts'
import { instanceCommands } from './instance/instances.ts'
import { metricsCommands } from './instance/metrics.ts'
import { recoveryCommands } from './instance/recovery.ts'
import { runCommands } from './instance/runs.ts'
import { tunnelCommands } from './instance/tunnels.ts'
import { watchdogCommands } from './instance/watchdog.ts'
import { attemptCommands } from './market/attempts.ts'
import { offerCommands } from './market/offers.ts'
import { rentingCommands } from './market/renting.ts'
import { templateCommands } from './market/templates.ts'
import { watchCommands } from './market/watches.ts'
import { type Parts, targetOf } from './parts.ts'
import { projectCommands } from './project/projects.ts'

/** The handlers of all declared commands. */
export function allCommands(parts: Parts, updateParts: UpdateParts): Handlers {
  return {
    ...accountCommands(parts),
    ...offerCommands(parts),
    ...rentingCommands(parts),
    ...attemptCommands(parts),
    ...recoveryCommands(parts),
    ...watchCommands(parts),
    ...templateCommands(parts),
    ...moneyCommands(parts),
    ...instanceCommands(parts),
    ...watchdogCommands(parts),
    ...runCommands(parts),
    ...projectCommands(parts),
    ...guardCommands(parts),
    ...accessCommands(parts),
    ...sshKeyCommands(parts),
    ...metricsCommands(parts),
    ...tunnelCommands(parts),
    ...editorCommands(parts),
    ...appCommands(parts),
    ...keyCommands(parts),
    ...twoFactorCommands(parts),
    ...notificationCommands(parts),
    ...volumeCommands(parts),
    ...transferCommands(parts),
    ...hostingCommands(parts),
    ...fileCommands(parts),
    ...updateCommands(updateParts),
  }
}

type TransferCommands = HandlersOf<typeof declared>

/** Commands that move data (section 4.3). */
function transferCommands(parts: Parts): TransferCommands {
  const { accounts } = parts
  return {
    async startCopy({ account, request }) {
      for (const instance of [request.from, request.to]) targetOf(parts, { account, instance })
      return accounts.session(account).transfers.copy(request)
    },
    async startSync({ account, request }) {
      // Checked before a key is made for it.
      targetOf(parts, { account, instance: request.instance })
      return accounts.session(account).transfers.sync(request)
    },
    cancelTransfer: ({ account, transfer }) => accounts.session(account).transfers.cancel(transfer),
    dismissTransfer: ({ account, transfer }) => accounts.session(account).transfers.dismiss(transfer),
  }
}
