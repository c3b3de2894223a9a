import type { SimulatorOptions } from '#simulator/simulator.ts'
import { appCode } from './authenticator-app.ts'
import { type Answered, type Service, startService } from './service.ts'

export interface Message {
  channel: string
  to: string
  code: string
  secret: string
  at: number
}

/** A simulator and a user's steps of two-factor authentication. */
export interface TwoFactorSteps {
  service: Service
  /** A call below /api/v0/tfa/; `key` null sends none. */
  tfa(method: string, path: string, body?: unknown, key?: string | null): Promise<Answered>
  /** Changes the account's state through the control plane. */
  account(state: Record<string, unknown>): Promise<void>
  /** Advances world time by minutes. */
  minutes(count: number): Promise<void>
  tfaSecret(): Promise<string>
  messages(): Promise<Message[]>
  /** The latest message. */
  message(): Promise<Message>
  status(): Promise<Record<string, unknown> & { methods: Record<string, unknown>[] }>
  /** Opens the 30-minute window by an email code. */
  authorize(): Promise<void>
  addTotp(label?: string): Promise<{ uri: string; id: number; backupCodes: string[] }>
  addSms(phoneNumber: string): Promise<{ id: number; backupCodes: string[] }>
  /** Has a code sent by text message; gives the proof made of it. */
  smsProof(ask?: Record<string, unknown>): Promise<{ tfa_method: string; code: string; secret: string }>
  emailProof(): Promise<{ tfa_method: string; code: string; secret: string }>
}

export async function startTwoFactor(options: SimulatorOptions = {}): Promise<TwoFactorSteps> {
  const service = await startService({ offers: 5, ...options })
  const ok = async (answer: Promise<Answered>) => {
    const { status, body } = await answer
    if (status !== 200) throw new Error(JSON.stringify(body))
    return body
  }
  const tfa: TwoFactorSteps['tfa'] = (method, path, body, key) =>
    service.call(method, `/api/v0/tfa/${path}`, body, key)
  const control = (path: string, body: unknown) => ok(service.call('POST', `/sim/${path}`, body, null))
  const messages = async () =>
    (await service.call('GET', '/sim/outbox', undefined, null)).body['messages'] as Message[]
  const message = async () => {
    const latest = (await messages()).at(-1)
    if (!latest) throw new Error('Nothing was sent.')
    return latest
  }
  const status: TwoFactorSteps['status'] = async () =>
    (await ok(tfa('GET', 'status/'))) as Awaited<ReturnType<TwoFactorSteps['status']>>
  const latestMethod = async () => (await status()).methods.at(-1)?.['id'] as number
  const backupCodes = (body: Record<string, unknown>) => (body['backup_codes'] ?? []) as string[]
  const steps: TwoFactorSteps = {
    service,
    tfa,
    messages,
    message,
    status,
    async account(state) {
      await control('account', state)
    },
    async minutes(count) {
      await control('clock', { advance: count * 60 })
    },
    tfaSecret: async () => (await control('tfa-secret', {}))['tfa_secret'] as string,
    async authorize() {
      const { secret } = await ok(tfa('POST', 'authorize-new-method/', { tfa_method: 'email' }))
      await ok(tfa('PUT', 'authorize-new-method/', { code: (await message()).code, secret }))
    },
    async addTotp(label) {
      const setup = await ok(tfa('POST', 'totp-setup/'))
      const uri = setup['provisioning_uri'] as string
      const proof = { tfa_method: 'totp', code: appCode(uri), secret: setup['secret'] }
      const body = await ok(tfa('POST', 'confirm-new/', label === undefined ? proof : { ...proof, label }))
      return { uri, id: await latestMethod(), backupCodes: backupCodes(body) }
    },
    async addSms(phoneNumber) {
      const proof = await steps.smsProof({ phone_number: phoneNumber })
      const body = await ok(tfa('POST', 'confirm-new/', { ...proof, phone_number: phoneNumber }))
      return { id: await latestMethod(), backupCodes: backupCodes(body) }
    },
    async smsProof(ask = {}) {
      const { secret } = await ok(tfa('POST', 'sms/', ask))
      return { tfa_method: 'sms', code: (await message()).code, secret: secret as string }
    },
    async emailProof() {
      const { secret } = await ok(tfa('POST', 'email/', {}))
      return { tfa_method: 'email', code: (await message()).code, secret: secret as string }
    },
  }
  return steps
}

/** A code other than the given one. */
export function otherThan(code: string): string {
  return code === '000000' ? '000001' : '000000'
}

/** The expected refusal. */
export function refused(status: number, error: string, extra: Record<string, unknown> = {}): object {
  return { status, body: { success: false, error, ...extra } }
}
