import type { transferCommands } from '#contract/commands/account.ts'
import type { relayCommands } from '#contract/commands/relays.ts'
import type { Handlers, HandlersOf } from '../bridge/dispatcher.ts'
import { cloudConnections } from '../copies/start.ts'
import { accessHandlers, editorHandlers, tunnelHandlers } from './access.ts'
import {
  accountHandlers,
  moneyHandlers,
  notificationHandlers,
  recordHandlers,
  variableHandlers,
  volumeHandlers,
} from './account.ts'
import { agentHandlers } from './agents.ts'
import { appHandlers, type UpdateParts, updateHandlers } from './app.ts'
import { fileHandlers } from './files.ts'
import { hostingHandlers } from './hosting.ts'
import {
  instanceHandlers,
  limitHandlers,
  metricsHandlers,
  recoveryHandlers,
  watchdogHandlers,
} from './instances.ts'
import { keyHandlers, sshKeyHandlers } from './keys.ts'
import { offerHandlers, rentingHandlers, templateHandlers, watchHandlers } from './market.ts'
import { projectHandlers, runHandlers, sweepHandlers } from './projects.ts'
import { type Services, targetOf } from './services.ts'
import { twoFactorHandlers } from './two-factor.ts'

/** The handlers of all declared commands. */
export function allCommands(parts: Services, updateParts: UpdateParts): Handlers {
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
    ...sweepHandlers(parts),
    ...projectHandlers(parts),
    ...limitHandlers(parts),
    ...agentHandlers(parts),
    ...accessHandlers(parts),
    ...sshKeyHandlers(parts),
    ...metricsHandlers(parts),
    ...tunnelHandlers(parts),
    ...editorHandlers(parts),
    ...appHandlers(parts),
    ...keyHandlers(parts),
    ...twoFactorHandlers(parts),
    ...notificationHandlers(parts),
    ...variableHandlers(parts),
    ...recordHandlers(parts),
    ...volumeHandlers(parts),
    ...transferHandlers(parts),
    ...hostingHandlers(parts),
    ...fileHandlers(parts),
    ...relayHandlers(parts),
    ...updateHandlers(updateParts),
  }
}

/** Commands about where alerts are also sent. */
function relayHandlers({ relays }: Services): HandlersOf<typeof relayCommands> {
  return {
    addRelay: ({ form, address }) => relays.add(form, address),
    changeRelay: ({ relay, form, address }) => relays.change(relay, form, address),
    removeRelay: ({ relay }) => relays.remove(relay),
    testRelay: ({ relay }) => relays.test(relay),
  }
}

/** Commands that move data (section 4.3). */
function transferHandlers(parts: Services): HandlersOf<typeof transferCommands> {
  const { accounts } = parts
  return {
    listCloudConnections: ({ account }) => cloudConnections(accounts.session(account).client),
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
