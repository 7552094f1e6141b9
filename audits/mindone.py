"""mindone's ports of transformers beside the originals: small configurations, evaluation phase.

A family stands with its base network. What a configuration has is what `tiny` says, and OWN. What
is known of a port that is not equal stands in `mindone_known`.
"""

from collections.abc import Mapping
from typing import Any

from audits import Port
from audits.mindone_known import ALIKE, DIFFERS, FIELDS, REFUSED
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin

IDS = integers(2, 40, low=3, high=90)
"""Places in a vocabulary; none of them pads."""

PIXELS = normal(2, 3, 32, 32)

TEXT: Mapping[str, Any] = {"input_ids": IDS}
TO_TEXT: Mapping[str, Any] = {"input_ids": IDS, "decoder_input_ids": IDS}
PICTURES: Mapping[str, Any] = {"pixel_values": PIXELS}
TEXT_AND_PICTURES: Mapping[str, Any] = {"input_ids": IDS, "pixel_values": PIXELS}

NETWORKS: tuple[tuple[Mapping[str, Any], str], ...] = (
    (
        TEXT,
        """
        albert AlbertModel
        apertus ApertusModel
        arcee ArceeModel
        bert BertModel
        big_bird BigBirdModel
        biogpt BioGptModel
        bloom BloomModel
        camembert CamembertModel
        canine CanineModel
        codegen CodeGenModel
        cohere CohereModel
        cohere2 Cohere2Model
        convbert ConvBertModel
        ctrl CTRLModel
        deberta DebertaModel
        deberta_v2 DebertaV2Model
        diffllama DiffLlamaModel
        distilbert DistilBertModel
        doge DogeModel
        electra ElectraModel
        ernie ErnieModel
        ernie4_5 Ernie4_5Model
        esm EsmModel
        exaone4 Exaone4Model
        falcon FalconModel
        flaubert FlaubertModel
        flex_olmo FlexOlmoModel
        fnet FNetModel
        funnel FunnelModel
        fuyu FuyuModel
        gemma GemmaModel
        gemma2 Gemma2Model
        glm GlmModel
        glm4 Glm4Model
        glm4_moe Glm4MoeModel
        gpt2 GPT2Model
        gpt_bigcode GPTBigCodeModel
        gpt_neo GPTNeoModel
        gpt_neox GPTNeoXModel
        gpt_neox_japanese GPTNeoXJapaneseModel
        gptj GPTJModel
        granite GraniteModel
        granitemoe GraniteMoeModel
        granitemoeshared GraniteMoeSharedModel
        helium HeliumModel
        hunyuan_v1_dense HunYuanDenseV1Model
        hunyuan_v1_moe HunYuanMoEV1Model
        ibert IBertModel
        jetmoe JetMoeModel
        layoutlm LayoutLMModel
        lfm2 Lfm2Model
        llama LlamaModel
        llama4 Llama4TextModel
        longformer LongformerModel
        mamba MambaModel
        markuplm MarkupLMModel
        megatron_bert MegatronBertModel
        minimax MiniMaxModel
        ministral MinistralModel
        mistral MistralModel
        mixtral MixtralModel
        mobilebert MobileBertModel
        modernbert ModernBertModel
        modernbert_decoder ModernBertDecoderModel
        moshi MoshiModel
        mpnet MPNetModel
        mpt MptModel
        mra MraModel
        nemotron NemotronModel
        nystromformer NystromformerModel
        olmo OlmoModel
        olmo2 Olmo2Model
        olmo3 Olmo3Model
        olmoe OlmoeModel
        opt OPTModel
        persimmon PersimmonModel
        phi PhiModel
        phi3 Phi3Model
        phimoe PhimoeModel
        qwen2 Qwen2Model
        qwen2_moe Qwen2MoeModel
        qwen3 Qwen3Model
        qwen3_moe Qwen3MoeModel
        qwen3_next Qwen3NextModel
        recurrent_gemma RecurrentGemmaModel
        rembert RemBertModel
        roberta RobertaModel
        roberta_prelayernorm RobertaPreLayerNormModel
        roformer RoFormerModel
        rwkv RwkvModel
        seed_oss SeedOssModel
        smollm3 SmolLM3Model
        splinter SplinterModel
        squeezebert SqueezeBertModel
        stablelm StableLmModel
        starcoder2 Starcoder2Model
        tapas TapasModel
        vaultgemma VaultGemmaModel
        visual_bert VisualBertModel
        xglm XGLMModel
        xlm XLMModel
        xlm_roberta XLMRobertaModel
        xlm_roberta_xl XLMRobertaXLModel
        xlnet XLNetModel
        xlstm xLSTMModel
        yoso YosoModel
        """,
    ),
    (
        TO_TEXT,
        """
        bart BartModel
        bigbird_pegasus BigBirdPegasusModel
        blenderbot BlenderbotModel
        blenderbot_small BlenderbotSmallModel
        fsmt FSMTModel
        led LEDModel
        longt5 LongT5Model
        m2m_100 M2M100Model
        marian MarianModel
        mbart MBartModel
        mt5 MT5Model
        mvp MvpModel
        nllb_moe NllbMoeModel
        pegasus PegasusModel
        pegasus_x PegasusXModel
        plbart PLBartModel
        prophetnet ProphetNetModel
        switch_transformers SwitchTransformersModel
        t5 T5Model
        umt5 UMT5Model
        """,
    ),
    (
        PICTURES,
        """
        beit BeitModel
        deit DeiTModel
        dinov2 Dinov2Model
        dinov2_with_registers Dinov2WithRegistersModel
        dinov3_vit DINOv3ViTModel
        ijepa IJepaModel
        instructblip InstructBlipVisionModel
        instructblipvideo InstructBlipVideoVisionModel
        mlcd MLCDVisionModel
        mobilenet_v2 MobileNetV2Model
        pixtral PixtralVisionModel
        vit ViTModel
        vit_mae ViTMAEModel
        vit_msn ViTMSNModel
        vitdet VitDetModel
        """,
    ),
    (
        TEXT_AND_PICTURES,
        """
        altclip AltCLIPModel
        blip BlipModel
        chinese_clip ChineseCLIPModel
        clip CLIPModel
        clipseg CLIPSegModel
        flava FlavaModel
        git GitModel
        groupvit GroupViTModel
        metaclip_2 MetaClip2Model
        owlv2 Owlv2Model
        owlvit OwlViTModel
        siglip SiglipModel
        vilt ViltModel
        """,
    ),
)
"""Inputs, and lines of families and their networks that take them."""

ALL_HIT: Mapping[str, Any] = {"num_experts_per_tok": 4}
"""So that no expert is without a token, whose gradient MindSpore leaves unwritten, or refuses
(findings/kernel/matmul_of_nothing.py, findings/gradient/slice_gradient_of_nothing.py)."""

INPUTS: Mapping[str, Mapping[str, Any]] = {
    "canine": {"input_ids": integers(2, 13, low=3, high=90)},  # three steps of its molecules
    "vit_mae": {**PICTURES, "noise": normal(2, 16)},  # by which it hides patches
}
"""Family -> the inputs that it takes, where they are others."""

OWN: Mapping[str, Mapping[str, Any]] = {
    "funnel": {"block_sizes": [1, 1, 1]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "led": {"attention_window": 4},
    "longformer": {"attention_window": 4},
    "jetmoe": ALL_HIT,
    "olmoe": ALL_HIT,
    "phimoe": {"num_local_experts": 2},  # both are taken
    "qwen2_moe": ALL_HIT,
    "recurrent_gemma": {"use_cache": True},  # without it the original keeps its last state
}
"""Family -> what its configuration has otherwise."""


NARROWED: Mapping[str, str] = {
    "train": "not tried",
    "graph": "not tried",
}
"""Phase or execution in which no family is compared -> why."""


def port(family: str, network: str, inputs: Mapping[str, Any]) -> Port:
    """A row: a family's network and its original of the same name."""
    config = {"family": family, "name": network, **OWN.get(family, {})}
    plain = {
        "name": f"mindone_{family}",
        "reference": "audits.pt.mindone:network",
        "candidate": "audits.ms.mindone:network",
        "inputs": dict(INPUTS.get(family, inputs)),
        "configs": (config,),
        "phases": ("eval",),
        "executions": ("pynative",),
        "level": "nightly",
        **FIELDS.get(family, {}),
    }
    other = None
    if family in ALIKE:
        changes = {"name": f"{plain['name']}_alike", **ALIKE[family]}
        changes["configs"] = ({**config, **changes.pop("config", {})},)
        changes["inputs"] = plain["inputs"] | changes.get("inputs", {})
        other = Twin(**{**plain, **changes})
    twin = Twin(**plain, differs=DIFFERS.get(family))
    original, refused = f"transformers {network}", REFUSED.get(family)
    narrowed = {} if (twin.differs or refused) and not other else NARROWED
    return Port(network, original, family, twin, refused, other, narrowed)


PORTS = tuple(
    sorted(
        (
            port(*line.split(), inputs)
            for inputs, lines in NETWORKS
            for line in lines.strip().splitlines()
        ),
        key=lambda port: port.family,
    )
)
