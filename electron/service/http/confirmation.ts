import * as Type from 'typebox'
import { ServiceError } from '../service-error.ts'
import { plainAnswer } from './answer.ts'

/** `{success, msg?}`, the whole answer to many writes. The transport has turned `success: false` into an error. */
export const confirmation = plainAnswer(
  Type.Object({ success: Type.Boolean(), msg: Type.Optional(Type.String()) }),
)
export interface Confirmation {
  success: boolean
  /** The service's own words, uncleaned: clean them before showing. */
  msg?: string
}

/** For operations whose answer the interface does not show: an object is enough. */
export const looseConfirmation = plainAnswer(
  Type.Object({ success: Type.Optional(Type.Boolean()), msg: Type.Optional(Type.String()) }),
)
export type LooseConfirmation = Partial<Confirmation>

/** For operations that some deployments answer with plain text. */
export const wordsOrConfirmation = plainAnswer(Type.Union([Type.Object({}), Type.String()]))

/** Waits for a removal. A repeat after a lost answer that finds nothing to remove counts as done. @throws ServiceError */
export async function removed(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404 && error.code !== 'not_supported'
    if (!isGone || !error.ambiguous) throw error
  }
}
