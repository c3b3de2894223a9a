import { orAborted } from '#platform/tasks.ts'
import { type CopyRequest, isOver, isRunning, type SyncRequest } from '#shared/account/transfer.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountContext, AccountPoll } from '../account-context.ts'
import { needingPermission, problemOf } from '../bridge/problems.ts'
import { isDeepEqual } from '../storage/store.ts'
import { KeyKeeper } from './key-keeper.ts'
import {
  copyFailed,
  endedInBetween,
  lostAlert,
  neverBegan,
  stillRunning,
  transferEntry,
  wideKeyNeeded,
} from './messages.ts'
import { openStoredTransfers, type Transfer } from './record.ts'
import { endsOf, startCopy, startSync } from './start.ts'
import { follow, lateness, patience } from './step.ts'

export type Transfers = Awaited<ReturnType<typeof openTransfers>>

/** Copies and syncs that Berth started on one account (section 4.3). They are stored before they begin. */
export async function openTransfers(context: AccountContext) {
  const { account, activity, client, now } = context
  const transfers = await openStoredTransfers(context)
  const { all, get, note } = transfers
  const keys = new KeyKeeper(context, transfers)
  const parts = { context, transfers, keys }
  /** Those that wait for the next poll. */
  const waiting = new Set<() => void>()

  function tell(kind: 'user' | 'berth' | 'error', text: string, transfer: Transfer, detail?: string): void {
    activity.add(transferEntry(account, kind, text, transfer, detail))
  }

  /** In Activity, too. */
  function tellLost(transfer: Transfer): void {
    context.notifications.tell(account, [lostAlert(account, transfer)])
  }

  /** Whether the service refused a key that is limited to one copy. */
  let isLimitRefused = false

  async function sync(request: SyncRequest, run?: string): Promise<string> {
    return startSync(parts, request, run).catch((error: unknown) => {
      if (problemOf(error).code === wideKeyNeeded.code) isLimitRefused = true
      throw error
    })
  }

  /** Resolves with the next poll. */
  function nextPoll(signal: AbortSignal): Promise<void> {
    return orAborted(new Promise<void>(resolve => waiting.add(resolve)), signal)
  }

  /** Whether nothing more is expected of the service about it. */
  function isSettled(transfer: Transfer): boolean {
    const { step, startedAt, reportedAt = startedAt + lateness } = transfer
    return isOver(transfer) || (step === 'unknown' && now() - reportedAt >= patience)
  }

  /** One with the same ends that began since then and is done, or may be. */
  function sameSince(
    kind: Transfer['kind'],
    { from, to }: Pick<Transfer, 'from' | 'to'>,
    since: number,
  ): Transfer | undefined {
    return all().findLast(
      transfer =>
        transfer.kind === kind &&
        transfer.startedAt >= since &&
        isDeepEqual([transfer.from, transfer.to], [from, to]) &&
        (isRunning(transfer) || transfer.step === 'done'),
    )
  }

  /** Resolves once nothing more is expected of it. */
  async function toEnd(id: string, signal: AbortSignal): Promise<Transfer> {
    try {
      while (!isSettled(get(id))) await nextPoll(signal)
    } finally {
      // Its key ends with the run, but not with Berth, which follows it again after the next start.
      if (!context.quitting.aborted && !isOver(get(id)) && get(id).kind === 'sync') {
        await note(id, { step: 'unknown', endedAt: now() })
        void keys.deleteUnused(id)
      }
    }
    return get(id)
  }

  async function cancel(id: string, by: 'user' | 'berth'): Promise<void> {
    const { kind, from, to } = get(id)
    const at = kind === 'copy' ? to.instance : (from.instance ?? to.instance)
    if (isOver(get(id)) || at === undefined) return
    const { transfers } = client()
    await needingPermission(
      'instance_write',
      kind === 'copy' ? transfers.cancelCopy(at) : transfers.cancelSync(at),
    )
    // The service is sent the instance alone, so it cancels all transfers there.
    for (const other of all().filter(other => cancelledWith(other, kind, at))) {
      await note(other.id, { step: 'cancelled', endedAt: now() })
      tell(by, 'Cancelled', other)
      void keys.deleteUnused(other.id)
    }
    void context.poll()
  }

  return {
    /** Resolves with the transfer's id once the service has accepted it, or its answer was lost. */
    copy: (request: CopyRequest): Promise<string> => startCopy(parts, request),
    /** The same, with a separate key that is deleted after the end. */
    sync,
    /** Whether a sync's key can do more than the sync, as far as is known. */
    needsWideKey: (): boolean =>
      isLimitRefused || !context.store.get().accounts[account]?.capabilities.limitsKeys,
    /**
     * Makes a sync and resolves once the service says that it is done. One with the same ends that began since `since`
     * counts, so that a caller that was killed may call again. Throws `cloud_copy_failed`.
     */
    async syncToEnd(request: SyncRequest, since: number, signal: AbortSignal, run: string): Promise<void> {
      const same = sameSince('sync', endsOf(request), since)
      const { step, message } = await toEnd(same?.id ?? (await sync(request, run)), signal)
      if (step !== 'done') throw new BerthError(copyFailed(request.cloudPath, message))
    },
    /**
     * The same for a copy between two instances, which is cancelled where `signal` ends it. Resolves with why it wasn't done;
     * undefined where it was. Rejects as `copy` does.
     */
    async copyToEnd(
      request: CopyRequest,
      since: number,
      signal: AbortSignal,
      run: string,
    ): Promise<string | undefined> {
      const ends = {
        from: { instance: request.from, path: request.fromPath },
        to: { instance: request.to, path: request.toPath },
      }
      const id = sameSince('copy', ends, since)?.id ?? (await startCopy(parts, request, run))
      try {
        const { step, message } = await toEnd(id, signal)
        return step === 'done' ? undefined : (message ?? '')
      } catch (error) {
        // Else it would go on into the folder that its caller gives up.
        if (signal.aborted && !context.quitting.aborted) await cancel(id, 'berth').catch(() => undefined)
        throw error
      }
    },
    cancel: (id: string): Promise<void> => cancel(id, 'user'),
    async dismiss(id: string): Promise<void> {
      const { step } = get(id)
      if (!isOver(get(id)) && step !== 'unknown') throw new BerthError(stillRunning)
      await note(id, { dismissed: true, endedAt: get(id).endedAt ?? now() })
      await keys.deleteUnused(id)
    },
    onPoll({ account: { instances } }: AccountPoll): void {
      for (const transfer of all()) {
        const others = all().filter(({ id }) => id !== transfer.id)
        const after = follow(transfer, others, instances, now())
        if (!isDeepEqual(transfer, after)) {
          void note(transfer.id, after)
          if (!isOver(after)) continue
          if (after.step === 'failed' || after.step === 'unknown') tellLost(after)
          else tell('berth', after.step === 'done' ? 'Done' : 'Cancelled', after, after.message)
        }
        if (isOver(after)) void keys.deleteUnused(transfer.id)
      }
      for (const resolve of waiting) resolve()
      waiting.clear()
    },
    show: transfers.show,
    resume(): void {
      for (const { id, step, kind, key } of all()) {
        if (step !== 'starting') continue
        // The key is stored before a sync is requested.
        if (kind === 'sync' && !key)
          void note(id, { step: 'failed', message: neverBegan, endedAt: now() }).then(() => tellLost(get(id)))
        else void note(id, { step: 'unknown', message: endedInBetween })
      }
    },
    /** Call before the account is removed. Requests to delete the keys once more, at once. */
    async deleteKeys(): Promise<void> {
      await Promise.all(all().map(({ id }) => keys.deleteNow(id)))
    },
    flush: transfers.flush,
  }
}

function cancelledWith(transfer: Transfer, kind: Transfer['kind'], at: number): boolean {
  if (isOver(transfer) || transfer.kind !== kind) return false
  return transfer.to.instance === at || (kind === 'sync' && transfer.from.instance === at)
}
