import { diagnose, renderDiagnosis } from '../doctor.js';
import { defineCommand } from '../frame/command.js';

export const command = defineCommand({
  name: 'doctor',
  description: 'Prints the configuration with the origin of every setting, and checks what a run needs.',
  arguments: {},
  options: {},
  async run(context) {
    const diagnosis = await diagnose(context);
    context.output.print({
      json: diagnosis,
      text: renderDiagnosis(diagnosis, context.output.colours),
      next: diagnosis.ok
        ? 'almoner plan FILE shows what a file would do.'
        : 'follow the remedies above, then run `almoner doctor` again.',
    });
    return diagnosis.ok ? 0 : 2;
  },
});
