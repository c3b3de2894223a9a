import { instanceName } from '../format/name.ts'
import { costWords } from '../spending/spend-words.ts'
import type { AccountView } from '../state.ts'
import { plainText, shortened } from '../text.ts'
import type { InstanceView } from './instance.ts'
import { instanceStateWord } from './instance-words.ts'

/** Characters of a name in a menu. */
const longest = 32

/** Foreign text for a menu: one short line. */
export function word(text: string): string {
  return shortened(plainText(text), longest)
}

/** `llama-finetune #4711` */
export function instanceTitle({ id, label, gpu }: InstanceView): string {
  return instanceName({ id, label: word(label || gpu?.name || '') })
}

/** `llama-finetune #4711: Running, $0.412/h` */
export function instanceLine(account: AccountView, instance: InstanceView): string {
  return `${instanceTitle(instance)}: ${stateOf(account, instance)}, ${costWords(instance)}`
}

export function stateOf(account: AccountView, instance: InstanceView): string {
  return word(instanceStateWord(account, instance))
}
