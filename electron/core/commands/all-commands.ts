import type { transferCommands as declared } from '#contract/commands/account/transfers.ts'
import type { Handlers, HandlersOf } from '../app/page/dispatcher.ts'
import { accountHandlers } from './account/accounts.ts'
import { hostingHandlers } from './account/hosting.ts'
import { keyHandlers } from './account/keys.ts'
import { moneyHandlers } from './account/money.ts'
import { notificationHandlers } from './account/notifications.ts'
import { sshKeyHandlers } from './account/ssh-keys.ts'
import { twoFactorHandlers } from './account/two-factor.ts'
import { volumeHandlers } from './account/volumes.ts'
import { appHandlers } from './app/app.ts'
import { type UpdateParts, updateHandlers } from './app/updates.ts'
import { accessHandlers } from './instance/access.ts'
import { editorHandlers } from './instance/editors.ts'
import { fileHandlers } from './instance/files.ts'
import { instanceHandlers } from './instance/instances.ts'
import { limitHandlers } from './instance/limits.ts'
import { metricsHandlers } from './instance/metrics.ts'
import { recoveryHandlers } from './instance/recovery.ts'
import { runHandlers } from './instance/runs.ts'
import { tunnelHandlers } from './instance/tunnels.ts'
import { watchdogHandlers } from './instance/watchdog.ts'
import { offerHandlers } from './market/offers.ts'
import { rentingHandlers } from './market/renting.ts'
import { templateHandlers } from './market/templates.ts'
import { watchHandlers } from './market/watches.ts'
import { type Parts, targetOf } from './parts.ts'
import { projectHandlers } from './project/projects.ts'

/** The handlers of all declared commands. */
export function allCommands(parts: Parts, updateParts: UpdateParts): Handlers {
  return {
    ...accountHandlers(parts),
    ...offerHandlers(parts),
    ...rentingHandlers(parts),
    ...recoveryHandlers(parts),
    ...watchHandlers(parts),
    ...templateHandlers(parts),
    ...moneyHandlers(parts),
    ...instanceHandlers(parts),
    ...watchdogHandlers(parts),
    ...runHandlers(parts),
    ...projectHandlers(parts),
    ...limitHandlers(parts),
    ...accessHandlers(parts),
    ...sshKeyHandlers(parts),
    ...metricsHandlers(parts),
    ...tunnelHandlers(parts),
    ...editorHandlers(parts),
    ...appHandlers(parts),
    ...keyHandlers(parts),
    ...twoFactorHandlers(parts),
    ...notificationHandlers(parts),
    ...volumeHandlers(parts),
    ...transferCommands(parts),
    ...hostingHandlers(parts),
    ...fileHandlers(parts),
    ...updateHandlers(updateParts),
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
