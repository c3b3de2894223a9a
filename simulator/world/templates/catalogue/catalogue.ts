import { contentDefaults, type TemplateContent } from '../template.ts'
import { contentOf } from './entry.ts'
import { frameworks } from './frameworks.ts'
import { inference } from './inference.ts'
import { pictures } from './pictures.ts'

/** Public templates, and about how many instances were made from each. */
export const publicTemplates: readonly {
  content: TemplateContent
  recommended: boolean
  popularity: number
}[] = [...frameworks, ...inference, ...pictures].map(entry => ({
  content: contentOf(entry),
  recommended: entry.recommended ?? false,
  popularity: entry.popularity ?? 40,
}))

/** Private templates of other users, which only they may see and use. */
export const strangersTemplates: readonly TemplateContent[] = [
  {
    ...contentDefaults,
    name: 'acme training (internal)',
    image: 'registry.acme.example/ml/train',
    docker_login_repo: 'registry.acme.example',
    docker_login_user: 'acme-ci',
    docker_login_pass: 'a token of theirs',
    private: true,
  },
  { ...contentDefaults, name: 'my experiments', image: 'pytorch/pytorch', private: true },
]
