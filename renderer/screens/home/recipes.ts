import type { IconName } from '#renderer/components/icons.ts'
import { freshDraft } from '#renderer/features/market/rentDefaults.ts'
import type { RentDraft } from '#renderer/features/market/rentDraft.ts'
import {
  filledValues,
  type RentTemplate,
  rentTemplate,
  withFilled,
} from '#renderer/features/market/rentTemplate.ts'
import { envOf } from '#renderer/features/templates/dockerFlags.ts'
import { imageName } from '#renderer/features/templates/listing.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { TemplateView } from '#shared/market/template.ts'
import type { AccountView } from '#shared/state.ts'

/** A common use of a GPU. */
export interface Recipe {
  title: string
  about: string
  icon: IconName
  /** GB of VRAM that one GPU needs. */
  memory: number
  /** Whether it serves a model that is chosen each time. */
  serves?: true
  /** The matching template: a recommended one before others, then the most used. */
  template: TemplateView
}

/** Each kind of recipe, whether or not there is a template for it. */
export const recipeKinds: readonly (Omit<Recipe, 'template'> & {
  does(template: TemplateView, image: string): boolean
})[] = [
  {
    title: 'Notebook',
    about: 'Jupyter in your browser, with a GPU.',
    icon: 'notebook',
    memory: 16,
    does: ({ runtype }) => runtype === 'jupyter',
  },
  {
    title: 'Chat with a model',
    about: 'Run your own LLM behind an OpenAI-compatible API.',
    icon: 'chat',
    memory: 40,
    serves: true,
    does: (_, image) => /vllm|ollama|sglang|text-generation-inference/.test(image),
  },
  {
    title: 'Make images',
    about: 'ComfyUI in your browser.',
    icon: 'picture',
    memory: 24,
    does: (_, image) => /comfy|stable-diffusion|automatic1111|invokeai|fooocus/.test(image),
  },
]

/** The recipes that these templates allow, each kind once. */
export function recipesOf(templates: readonly TemplateView[]): Recipe[] {
  const best = [...templates].sort(
    (a, b) =>
      Number(b.recommended ?? false) - Number(a.recommended ?? false) || (b.used ?? 0) - (a.used ?? 0),
  )
  return recipeKinds.flatMap(({ does, ...kind }) => {
    const template = best.find(one => does(one, imageName(one).toLowerCase()))
    return template ? [{ ...kind, template }] : []
  })
}

/** The names of a template's variables for the model and for the token of Hugging Face, and the model it has. */
export interface ModelVariables {
  model: string
  token?: string
  value: string
}

/** Undefined for a template that takes no model by a variable. */
export function modelVariables({ env = '' }: TemplateView): ModelVariables | undefined {
  const { variables } = envOf(env)
  const names = [...variables.keys()]
  const model = names.find(name => /^(?:\w+_)?MODEL(?:_(?:NAME|ID))?$/.test(name))
  if (model === undefined) return undefined
  const token = names.find(name => /^(?:HF|HUGGING_?FACE)(?:_HUB)?_TOKEN$/.test(name))
  return { model, token, value: variables.get(model) ?? '' }
}

/** The rent dialog's input for a machine that serves a model; without a token the template's is kept. */
export function chatDraft(
  account: AccountView | undefined,
  offer: OfferView,
  template: TemplateView,
  { variables, model, token }: { variables: ModelVariables; model: string; token: string },
): { draft: RentDraft; template: RentTemplate } {
  const fresh = freshDraft(account, offer)
  const chosen = rentTemplate(template, filledValues(fresh))
  const fields = chosen.values?.fields ?? filledValues(fresh)
  const env = [{ key: 1, name: variables.model, value: model.trim(), secret: false }]
  if (variables.token !== undefined && token.trim() !== '')
    env.push({ key: 2, name: variables.token, value: token.trim(), secret: true })
  return { draft: { ...withFilled(fresh, filledValues(fresh), fields), env }, template: chosen }
}
