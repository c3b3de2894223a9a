import type { TwoFactorMethod, TwoFactorStatus } from '#contract/account/two-factor.ts'
import type {
  MethodAnswer as ServiceMethod,
  StatusAnswer as ServiceStatus,
} from '#service/two-factor-operations.ts'

export function methodView(method: ServiceMethod): TwoFactorMethod {
  return {
    id: method.id,
    kind: method.method,
    label: method.label || undefined,
    phone: method.phone_number || undefined,
    primary: method.is_primary ?? false,
    failCount: method.fail_count ?? 0,
    lockedUntil: method.locked_until ?? undefined,
    createdAt: method.created_at ?? undefined,
    lastUsed: method.last_used ?? undefined,
  }
}

/** `status` is the user's `tfa_status`; `closes` the end of a window whose opening Berth saw, in epoch seconds. */
export function statusView(
  told: ServiceStatus,
  status: string | undefined,
  closes: number | undefined,
): TwoFactorStatus {
  return {
    enabled: told.tfa_enabled,
    status,
    methods: told.methods.map(methodView),
    backupCodesRemaining: told.backup_codes_remaining,
    mayAdd: told.new_method_authorized,
    mayAddUntil: told.new_method_authorized ? closes : undefined,
  }
}
