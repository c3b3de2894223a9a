import type { twoFactorCommands } from '#contract/commands/account.ts'
import type { ServiceClient } from '#service/client.ts'
import type {
  NewMethodBody as NewServiceMethod,
  MethodAnswer as ServiceMethod,
  ProofBody as ServiceProof,
  StatusAnswer as ServiceStatus,
} from '#service/two-factor.ts'
import type { NewMethod, Proof, TwoFactorMethod, TwoFactorStatus } from '#shared/account/two-factor.ts'
import type { AccountId } from '#shared/ids.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { askOf, type Services } from './services.ts'

/** Seconds of the account's time in which methods may be added after an authorization (section 8). */
const addingWindow = 30 * 60

export function twoFactorHandlers(parts: Services): HandlersOf<typeof twoFactorCommands> {
  const { accounts, store } = parts
  const ask = askOf(parts)
  /** The ends of the windows whose opening Berth saw, in epoch seconds of the account's time. */
  const closes = new Map<AccountId, number>()

  const opened = (account: AccountId) => closes.set(account, accounts.session(account).now() + addingWindow)

  /** Changes the account, and polls, since the change affects the status in State. */
  async function change<Answer>(
    account: AccountId,
    text: string,
    call: (client: ServiceClient) => Promise<Answer>,
  ): Promise<Answer> {
    const answer = await ask(account, 'user_write', call, text)
    void accounts.session(account).poll()
    return answer
  }

  return {
    async twoFactorStatus({ account }) {
      const { id } = accounts.session(account)
      const status = await ask(id, 'user_read', ({ twoFactor }) => twoFactor.status())
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
    async sendEmailCode({ account, secret: given }) {
      const request = given === undefined ? {} : { secret: given }
      const { secret } = await ask(account, 'user_write', ({ twoFactor }) => twoFactor.sendEmail(request))
      return { secret }
    },
    async sendSmsCode({ account, request }) {
      const sms = smsRequest(request)
      const { secret } = await ask(account, 'user_write', ({ twoFactor }) => twoFactor.sendSms(sms))
      return { secret }
    },
    async resendSmsCode({ account, request }) {
      const sms = smsRequest(request)
      const { secret } = await ask(account, 'user_write', ({ twoFactor }) => twoFactor.resendSms(sms))
      return { secret }
    },
    async setUpTotp({ account }) {
      const { secret, provisioning_uri: uri } = await ask(account, 'user_write', ({ twoFactor }) =>
        twoFactor.setUpTotp(),
      )
      return { secret, uri }
    },
    async authorizeNewMethod({ account, by }) {
      const granted = by.with === 'backup'
      const request = granted
        ? { backup_code: by.backupCode }
        : { tfa_method: by.with, ...methodId(by.method) }
      const { id } = accounts.session(account)
      const { secret } = await ask(id, 'user_write', ({ twoFactor }) => twoFactor.authorizeNewMethod(request))
      if (granted) opened(id)
      return { granted, secret }
    },
    async confirmNewMethods({ account, code, secret }) {
      const { id } = accounts.session(account)
      await ask(id, 'user_write', ({ twoFactor }) => twoFactor.confirmAuthorization({ code, secret }))
      opened(id)
    },
    async addMethod({ account, method }) {
      const { backup_codes: backupCodes } = await change(
        accounts.session(account).id,
        `Added ${kindWords[method.kind]} to two-factor authentication`,
        ({ twoFactor }) => twoFactor.confirmMethod(serviceMethod(method)),
      )
      return backupCodes ? { backupCodes } : {}
    },
    async updateMethod({ account, method, label, primary }) {
      const changes = { tfa_method_id: method, label, is_primary: primary }
      const { method: after } = await change(
        accounts.session(account).id,
        `Changed two-factor method #${method}`,
        ({ twoFactor }) => twoFactor.updateMethod(changes),
      )
      return methodView(after)
    },
    async removeMethod({ account, proof, method }) {
      const { remaining_methods: remaining } = await change(
        accounts.session(account).id,
        'Removed a method of two-factor authentication',
        ({ twoFactor }) => twoFactor.removeMethod({ ...serviceProof(proof), target_id: method }),
      )
      return { remaining: remaining ?? 0 }
    },
    async regenerateBackupCodes({ account, proof }) {
      const { backup_codes: codes } = await change(
        accounts.session(account).id,
        'Replaced the backup codes',
        ({ twoFactor }) => twoFactor.regenerateBackupCodes(serviceProof(proof)),
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
