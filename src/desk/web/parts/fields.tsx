import type { ComponentChildren, ComponentProps } from 'preact';
import { useId } from 'preact/hooks';

type ButtonProps = {
  readonly name: string;
  readonly look?: string | undefined;
  /** The spoken label, where the name alone does not say what the button acts on. */
  readonly label?: string | undefined;
  readonly disabled?: boolean;
  readonly onPress: () => void;
};

/** A button that does not submit a form. */
export function Button({ name, look, label, disabled, onPress }: ButtonProps) {
  return (
    <button type="button" class={look} aria-label={label} disabled={disabled} onClick={() => onPress()}>
      {name}
    </button>
  );
}

type Input = Pick<
  ComponentProps<'input'>,
  'value' | 'placeholder' | 'required' | 'maxLength' | 'inputMode' | 'autocomplete' | 'aria-describedby'
>;

type TextFieldProps = Input & {
  readonly label: ComponentChildren;
  readonly onText: (text: string) => void;
  /** Makes the field a search: it takes the free width and acts on Enter. */
  readonly onSearch?: () => void;
};

/** A text field with a label above it. */
export function TextField({ label, onText, onSearch, ...input }: TextFieldProps) {
  const id = useId();
  const search = {
    type: 'search',
    autocomplete: 'off',
    spellcheck: false,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter') onSearch?.();
    },
  } as const;
  return (
    <div class={onSearch === undefined ? 'field' : 'field grow'}>
      <label for={id}>{label}</label>
      <input
        id={id}
        {...(onSearch === undefined ? { type: 'text' as const } : search)}
        {...input}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </div>
  );
}

type TotalFieldProps = {
  readonly typed: string;
  readonly onText: (typed: string) => void;
  readonly describedBy?: string;
};

/** The field for a typed total. Typing it makes the person read it. */
export function TotalField({ typed, onText, describedBy }: TotalFieldProps) {
  return (
    <TextField
      label="Type the total to confirm"
      inputMode="numeric"
      autocomplete="off"
      value={typed}
      {...(describedBy === undefined ? {} : { 'aria-describedby': describedBy })}
      onText={onText}
    />
  );
}

type CheckProps = {
  readonly label: string;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
};

export function Check({ label, on, onChange }: CheckProps) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
    </div>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly value: string;
  readonly required?: boolean;
  readonly onChoice: (value: string) => void;
  readonly children: ComponentChildren;
};

/** A select field; its options are the children. */
export function Choice({ label, value, required, onChoice, children }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        required={required}
        value={value}
        onChange={(event) => onChoice(event.currentTarget.value)}
      >
        {children}
      </select>
    </div>
  );
}

/** The digits of a typed total: 1,000 and 1 000 and 1.000 are all one thousand. */
export function typedDigits(text: string): string {
  return text.replaceAll(/[\s,.'’_]/g, '').replace(/^0+(?=\d)/, '');
}
