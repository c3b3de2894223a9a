import * as Type from 'typebox'
import { plainAnswer } from './answer.ts'

/** `{success, msg?}`: all that many writes answer. `success: false` has become an error before. */
export const confirmation = plainAnswer(
  Type.Object({ success: Type.Boolean(), msg: Type.Optional(Type.String()) }),
)
export interface Confirmation {
  success: boolean
  /** The service's own words, as they came: clean before showing. */
  msg?: string
}

/** For operations whose answer the interface does not show: an object is enough. */
export const looseConfirmation = plainAnswer(
  Type.Object({ success: Type.Optional(Type.Boolean()), msg: Type.Optional(Type.String()) }),
)
export type LooseConfirmation = Partial<Confirmation>

/** For operations that some deployments answer with words alone. */
export const wordsOrConfirmation = plainAnswer(Type.Union([Type.Object({}), Type.String()]))
