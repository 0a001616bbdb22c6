"""The switches, thresholds and patterns of an experiment, read from its files and from those that ship."""

from __future__ import annotations

from msgspec import structs

from hallumeter.errors import SettingsError
from hallumeter.pipelines.aspects.resource_files import (
    load_mapping_thresholds,
    load_override_profiles,
    load_patterns,
    shipped_patterns,
)
from hallumeter.pipelines.aspects.settings import OverrideThresholds, StageSettings, Switches

from .experiment import Experiment, PipelineChoice


def stage_settings(experiment: Experiment) -> StageSettings:
    """All that decides what code makes of agents' answers; the run, its seed and its hash are still to be named.

    Raises:
        InputError: A file cannot be opened.
        SettingsError: A file says what it should not, or lacks the profile.
    """
    pipeline = experiment.pipeline
    own = {language: load_patterns(language, path) for language, path in pipeline.patterns.items()}
    return StageSettings(
        switches=Switches(**{name: getattr(pipeline, name) for name in Switches.__struct_fields__}),
        override=_override(pipeline),
        mapping=load_mapping_thresholds(pipeline.debate_thresholds),
        patterns={**shipped_patterns(), **own},
        mode=experiment.mode,
        profile=experiment.profile,
    )


def _override(pipeline: PipelineChoice) -> OverrideThresholds:
    """The thresholds of a profile, with the numbers that the experiment gives itself in their place."""
    profiles = load_override_profiles(pipeline.debate_override_thresholds)
    chosen = pipeline.debate_override
    found = profiles.named(chosen.profile)
    if found is None:
        known = ", ".join(profiles.profiles)
        raise SettingsError(f"debate_override has no profile {chosen.profile!r}; the file of thresholds has {known}")
    own = {name: getattr(chosen, name) for name in OverrideThresholds.__struct_fields__}
    return structs.replace(found, **{name: value for name, value in own.items() if value is not None})
