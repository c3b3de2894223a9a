import type { NewMethod, Proof, TwoFactorMethod, TwoFactorStatus } from '#contract/account/two-factor.ts'
import type { twoFactorCommands } from '#contract/commands/account.ts'
import type { AccountId } from '#contract/ids.ts'
import type {
  NewMethodBody as NewServiceMethod,
  MethodAnswer as ServiceMethod,
  ProofBody as ServiceProof,
  StatusAnswer as ServiceStatus,
} from '#service/two-factor.ts'
import type { HandlersOf } from '../app/dispatcher.ts'
import { needingPermission } from '../app/problems.ts'
import type { Parts } from './parts.ts'

type TwoFactorCommands = HandlersOf<typeof twoFactorCommands>

/** Seconds of the account's time in which methods may be added after an authorization (section 8). */
const addingWindow = 30 * 60

export function twoFactorHandlers({ accounts, activity, store }: Parts): TwoFactorCommands {
  /** The ends of the windows whose opening Berth saw, in epoch seconds of the account's time. */
  const closes = new Map<AccountId, number>()

  const opened = (account: AccountId) => closes.set(account, accounts.session(account).now() + addingWindow)

  /** Changes the account, notes it in Activity, and polls, since the change affects the status in State. */
  async function change<Answer>(account: AccountId, text: string, doing: Promise<Answer>): Promise<Answer> {
    const answer = await needingPermission('user_write', doing)
    activity.add({ account, kind: 'user', text })
    void accounts.session(account).poll()
    return answer
  }

  return {
    async twoFactorStatus({ account }) {
      const { id, client } = accounts.session(account)
      const status = await needingPermission('user_read', client.twoFactor.status())
      return statusView(status, store.get().accounts[id]?.tfaStatus, closes.get(id))
    },
    async twoFactorLogin({ account, proof, admin }) {
      const { id, client } = accounts.session(account)
      const user = await client.twoFactor.login({ ...serviceProof(proof), admin: admin || undefined })
      if (user.session_key !== undefined) await accounts.useSessionKey(id, user.session_key)
      return {
        session: user.session_key !== undefined,
        backupCodesRemaining:
          proof.with === 'backup' ? (user.backup_codes_remaining ?? 0) : user.backup_codes_remaining,
        legacy: user.legacy_tfa_user ?? false,
      }
    },
    async sendEmailCode({ account, secret: givenSecret }) {
      const { client } = accounts.session(account)
      const request = givenSecret === undefined ? {} : { secret: givenSecret }
      const { secret } = await needingPermission('user_write', client.twoFactor.sendEmail(request))
      return { secret }
    },
    async sendSmsCode({ account, request }) {
      const { secret } = await needingPermission(
        'user_write',
        accounts.session(account).client.twoFactor.sendSms(smsRequest(request)),
      )
      return { secret }
    },
    async resendSmsCode({ account, request }) {
      const { secret } = await needingPermission(
        'user_write',
        accounts.session(account).client.twoFactor.resendSms(smsRequest(request)),
      )
      return { secret }
    },
    async setUpTotp({ account }) {
      const { secret, provisioning_uri: uri } = await needingPermission(
        'user_write',
        accounts.session(account).client.twoFactor.setUpTotp(),
      )
      return { secret, uri }
    },
    async authorizeNewMethod({ account, by }) {
      const { id, client } = accounts.session(account)
      const started = await needingPermission(
        'user_write',
        client.twoFactor.authorizeNewMethod(
          by.with === 'backup'
            ? { backup_code: by.backupCode }
            : { tfa_method: by.with, ...methodId(by.method) },
        ),
      )
      const granted = by.with === 'backup'
      if (granted) opened(id)
      return { granted, secret: started.secret }
    },
    async confirmNewMethods({ account, code, secret }) {
      const { id, client } = accounts.session(account)
      await needingPermission('user_write', client.twoFactor.confirmAuthorization({ code, secret }))
      opened(id)
    },
    async addMethod({ account, method }) {
      const { id, client } = accounts.session(account)
      const added = await change(
        id,
        `Added ${kindWords[method.kind]} to two-factor authentication`,
        client.twoFactor.confirmMethod(serviceMethod(method)),
      )
      return added.backup_codes ? { backupCodes: added.backup_codes } : {}
    },
    async updateMethod({ account, method, label, primary }) {
      const { id, client } = accounts.session(account)
      const { method: after } = await change(
        id,
        `Changed two-factor method #${method}`,
        client.twoFactor.updateMethod({ tfa_method_id: method, label, is_primary: primary }),
      )
      return methodView(after)
    },
    async removeMethod({ account, proof, method }) {
      const { id, client } = accounts.session(account)
      const { remaining_methods: remaining } = await change(
        id,
        'Removed a method of two-factor authentication',
        client.twoFactor.removeMethod({ ...serviceProof(proof), target_id: method }),
      )
      return { remaining: remaining ?? 0 }
    },
    async regenerateBackupCodes({ account, proof }) {
      const { id, client } = accounts.session(account)
      const { backup_codes: codes } = await change(
        id,
        'Replaced the backup codes',
        client.twoFactor.regenerateBackupCodes(serviceProof(proof)),
      )
      return codes
    },
  }
}

const kindWords = { totp: 'an authenticator app', sms: 'text messages' } as const

function serviceMethod(method: NewMethod): NewServiceMethod {
  const { kind, code, secret, label } = method
  return {
    tfa_method: kind,
    code,
    secret,
    label: label || undefined,
    phone_number: method.kind === 'sms' ? method.phone : undefined,
  }
}

function smsRequest({ phone, method, secret }: { phone?: string; method?: number; secret?: string }) {
  return { ...methodId(method), phone_number: phone, secret: secret || undefined }
}

/** The user's proof of identity in the service's form (section 4.7). */
function serviceProof(proof: Proof): ServiceProof {
  switch (proof.with) {
    case 'backup':
      return { backup_code: proof.backupCode }
    case 'email':
      return { tfa_method: 'email', code: proof.code, secret: proof.secret }
    case 'sms':
      return { tfa_method: 'sms', code: proof.code, secret: proof.secret, ...methodId(proof.method) }
    case 'totp':
      return { tfa_method: 'totp', code: proof.code, ...methodId(proof.method) }
  }
}

function methodId(method: number | undefined): { tfa_method_id?: number } {
  return method === undefined ? {} : { tfa_method_id: method }
}

function methodView(method: ServiceMethod): TwoFactorMethod {
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
function statusView(
  serviceStatus: ServiceStatus,
  status: string | undefined,
  closes: number | undefined,
): TwoFactorStatus {
  return {
    enabled: serviceStatus.tfa_enabled,
    status,
    methods: serviceStatus.methods.map(methodView),
    backupCodesRemaining: serviceStatus.backup_codes_remaining,
    mayAdd: serviceStatus.new_method_authorized,
    mayAddUntil: serviceStatus.new_method_authorized ? closes : undefined,
  }
}
