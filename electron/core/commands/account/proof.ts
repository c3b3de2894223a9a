import type { Proof } from '../../../contract/account/two-factor.ts'
import type { Proof as ServiceProof } from '../../../service/two-factor.ts'

/** The user's proof of identity in the service's form (section 4.7). */
export function serviceProof(proof: Proof): ServiceProof {
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

export function methodId(method: number | undefined): { tfa_method_id?: number } {
  return method === undefined ? {} : { tfa_method_id: method }
}
