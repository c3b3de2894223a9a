import type { TemplateView } from '#contract/market/template.ts'
import type { IconName } from '#renderer/components/icons.ts'
import { imageName } from '#renderer/features/templates/listing.ts'

/** A common use of a GPU. */
export interface Recipe {
  title: string
  about: string
  icon: IconName
  /** GB of VRAM that one GPU needs. */
  memory: number
  /** The matching template: a recommended one before others, then the most used. */
  template: TemplateView
}

const kinds: readonly (Omit<Recipe, 'template'> & {
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
  return kinds.flatMap(({ does, ...kind }) => {
    const template = best.find(one => does(one, imageName(one).toLowerCase()))
    return template ? [{ ...kind, template }] : []
  })
}
