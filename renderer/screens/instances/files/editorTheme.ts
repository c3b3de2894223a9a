import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** The syntax colours, from the page's tokens for light and dark. */
export const colours = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName],
    color: 'var(--accent)',
    fontWeight: '550',
  },
  { tag: [tags.propertyName, tags.attributeName], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--busy)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--busy)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--text-3)', fontStyle: 'italic' },
  { tag: tags.definition(tags.function(tags.variableName)), fontWeight: '550' },
  { tag: tags.heading, fontWeight: '550', color: 'var(--accent)' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.link, tags.url], textDecoration: 'underline' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

const control = {
  font: 'inherit',
  height: '24px',
  padding: '0 8px',
  border: '1px solid var(--line-strong)',
  borderRadius: 'var(--radius)',
  background: 'var(--panel)',
  color: 'var(--text)',
}
const ring = { outline: '2px solid var(--accent)', outlineOffset: '-1px' }

export const editorTheme = EditorView.theme({
  '&': {
    height: '100%',
    color: 'var(--text)',
    background: 'var(--panel)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    overflow: 'hidden',
  },
  '&.cm-focused': ring,
  '.cm-scroller': { font: '13px / 19px var(--mono)' },
  '.cm-content': { padding: '6px 0', caretColor: 'var(--text)', userSelect: 'text' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    background: 'var(--bg)',
    color: 'var(--text-3)',
    border: '0',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLineGutter': { background: 'var(--hover)', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--fill)',
  },
  '&.cm-focused .cm-matchingBracket': {
    background: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '.cm-searchMatch': { background: 'var(--fill-busy)' },
  '.cm-searchMatch-selected': { outline: '1px solid var(--busy)' },
  '.cm-panels': { background: 'var(--bg)', color: 'var(--text-2)', fontSize: '12px' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 28px 6px 8px' },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': {
    margin: '2px 4px 2px 0',
  },
  '.cm-panel.cm-search label': { fontSize: '12px' },
  '.cm-panel.cm-search input[type=checkbox]': { accentColor: 'var(--accent)', verticalAlign: 'middle' },
  '.cm-textfield': control,
  '.cm-textfield:focus-visible, .cm-button:focus-visible': ring,
  '.cm-button': { ...control, backgroundImage: 'none' },
  '.cm-button:hover': { background: 'var(--hover)' },
  '.cm-panel.cm-search [name=close]': { top: '4px', right: '6px', fontSize: '16px', color: 'var(--text-2)' },
})
