import * as v from 'valibot'

/** What shows that somebody uses a machine, besides its GPUs: typing at a terminal, a Jupyter kernel, an open page. */
const UsedBy = v.picklist(['terminal', 'kernel', 'page'])
export type UsedBy = v.InferOutput<typeof UsedBy>

export function isUsedBy(text: string | undefined): text is UsedBy {
  return v.is(UsedBy, text)
}

/** When an instance was last seen used, in epoch seconds of the account's time, and by what. */
export const LastUse = v.object({ at: v.number(), by: UsedBy })
export type LastUse = v.InferOutput<typeof LastUse>

const words: Record<UsedBy, string> = {
  terminal: 'somebody typed at a terminal',
  kernel: 'a Jupyter kernel worked',
  page: 'a page of it was open',
}

/** `somebody typed at a terminal`, to follow `Not idle: ` or a moment. */
export function useWords(by: UsedBy): string {
  return words[by]
}

/** That nobody used an idle instance, or that this isn't known, as a sentence. */
export function unusedSentence(isKnown: boolean): string {
  return isKnown
    ? 'Nobody was at a terminal, no kernel was busy, and no page was open.'
    : 'Whether somebody was logged in couldn’t be read there.'
}
