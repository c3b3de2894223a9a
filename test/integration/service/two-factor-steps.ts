import type { ServiceClient } from '#service/client.ts'
import type { ProofBody } from '#service/two-factor.ts'
import { appCode } from '../simulator/authenticator-app.ts'
import { type Connected, connect } from './connected.ts'

/** A user's steps of two-factor authentication, through Berth's client. */
export interface TwoFactorSteps extends Connected {
  tfa: ServiceClient['twoFactor']
  /** Opens the 30 minutes in which methods may be added, with a code from an email. */
  authorize(): Promise<void>
  addTotp(label?: string): Promise<{ uri: string; id: number; backupCodes: string[] }>
  addSms(phoneNumber: string): Promise<{ id: number; backupCodes: string[] }>
  /** Has a code sent; gives the proof made of it. */
  smsProof(phoneNumber?: string): Promise<SentProof>
  emailProof(): Promise<SentProof>
}

export type SentProof = Required<Pick<ProofBody, 'code' | 'secret'>> & { tfa_method: 'sms' | 'email' }

export async function startTwoFactor(): Promise<TwoFactorSteps> {
  const connected = await connect({ offers: 5 })
  const tfa = connected.client.twoFactor
  const newest = async () => (await tfa.status()).methods.at(-1)?.id ?? 0
  const steps: TwoFactorSteps = {
    ...connected,
    tfa,
    async authorize() {
      const { secret = '' } = await tfa.authorizeNewMethod({ tfa_method: 'email' })
      await tfa.confirmAuthorization({ code: connected.message().code, secret })
    },
    async addTotp(label) {
      const { secret, provisioning_uri: uri } = await tfa.setUpTotp()
      const method = { tfa_method: 'totp', code: appCode(uri), secret } as const
      const { backup_codes = [] } = await tfa.confirmMethod(
        label === undefined ? method : { ...method, label },
      )
      return { uri, id: await newest(), backupCodes: backup_codes }
    },
    async addSms(phoneNumber) {
      const { code, secret } = await steps.smsProof(phoneNumber)
      const method = { tfa_method: 'sms', code, secret, phone_number: phoneNumber } as const
      const { backup_codes = [] } = await tfa.confirmMethod(method)
      return { id: await newest(), backupCodes: backup_codes }
    },
    async smsProof(phoneNumber) {
      const { secret } = await tfa.sendSms(phoneNumber === undefined ? {} : { phone_number: phoneNumber })
      return { tfa_method: 'sms', code: connected.message().code, secret }
    },
    async emailProof() {
      const { secret } = await tfa.sendEmail({})
      return { tfa_method: 'email', code: connected.message().code, secret }
    },
  }
  return steps
}
